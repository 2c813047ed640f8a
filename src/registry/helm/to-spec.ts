import type { Chart, ChartRelease } from './index-file.ts'

/** A spec for a chart: the runner gets the repository and the chart as parameters that have one value only. */
export function toSpec(chart: Chart, { description }: ChartRelease, repository: string, values: string): string {
  return JSON.stringify({
    version: '1.0',
    name: chart.name,
    description,
    bindable: false,
    async: 'optional',
    metadata: { displayName: `${chart.name} (Helm)` },
    plans: [
      {
        name: 'default',
        description: `Deploys the Helm chart ${chart.name}`,
        free: true,
        metadata: {},
        parameters: [
          { ...fixed('repo', repository), title: 'Helm Chart Repository URL' },
          { ...fixed('chart', chart.name), title: 'Helm Chart' },
          {
            name: 'version',
            title: 'Helm Chart Version',
            type: 'enum',
            enum: chart.versions,
            default: chart.newest,
            required: true,
            updatable: true,
          },
          {
            name: 'values',
            title: 'Values',
            type: 'string',
            display_type: 'textarea',
            default: values,
            required: false,
            updatable: true,
          },
        ],
      },
    ],
  })
}

function fixed(name: string, value: string) {
  return { name, type: 'string', default: value, pattern: `^${literally(value)}$`, required: true, updatable: false }
}

/** A pattern for this text alone, which Go and JavaScript read the same way. */
function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
