/** What a sandbox is labelled with, so that whoever finds one knows whose it is. The operation is asked what became of it. */
export const sandboxLabels = {
  broker: 'purser.broker',
  operation: 'purser.operation',
  instance: 'purser.instance',
  binding: 'purser.binding',
} as const
