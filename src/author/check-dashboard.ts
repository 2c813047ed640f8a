import { inCode, typeName } from '../shape/mistake.ts'

export const dashboardRule = 'a URL that begins with http:// or https://'

export function isDashboard(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
}

/** What was found in the place of a dashboard's URL. Not the value, which may be secret. */
export function notADashboard(type: string): string {
  return type === 'a text' ? 'another text' : inCode(type)
}

/** What `dashboard` of a service returned. The request fails before anything is accepted. */
export function checkDashboard(url: unknown, who: string): string {
  if (typeof url === 'string' && isDashboard(url)) return url
  // Nobody waits for it, and if it is rejected that must not end the process.
  if (url instanceof Promise) url.catch(() => {})
  const found = notADashboard(typeName(url))
  throw new TypeError(`${who} must return ${dashboardRule}, not ${found}`)
}
