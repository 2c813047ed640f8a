export function renderJson(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}
