import type { Violation } from '#lib/errors'

const variable = /\{\{\.(UserID|Code|OrgID)\}\}/g

/** The values that a link may show. */
export interface LinkValues {
  UserID: string
  Code: string
  OrgID: string
}

// No part of one is part of the other: what differs between them comes from a variable.
const examples: LinkValues[] = [
  { UserID: 'u', Code: 'c', OrgID: 'o' },
  { UserID: 'v', Code: 'd', OrgID: 'p' },
]

// 200 code points. Longer ones are refused by the contract's own rule, and to look at all of one could take long.
const longest = 400

/** What is wrong with a urlTemplate: another variable, no absolute http(s) URL, or a host that is not allowed. */
export function checkTemplate(template: string, allowedHosts: string[], field: string): Violation[] {
  if (template.length > longest) return []
  const violation = (description: string) => [{ field, description }]
  const rest = template.replace(variable, '')
  const unknown = /\{\{[^{}]*\}\}/.exec(rest)
  if (unknown) return violation(`has the unknown variable ${unknown[0]}`)
  if (/[{}]/.test(rest)) return violation('has a brace that does not belong to a variable')
  const [url, other] = examples.map((values) => URL.parse(fillTemplate(template, values)))
  // Browsers take a backslash for a slash and leave out tabs, other programs do not: they could differ about the host.
  if (!url || !/^https?:\/\/[^/]/i.test(template) || /[\s\p{C}\\]/u.test(template))
    return violation('must be an absolute http or https URL')
  if (url.username || url.password) return violation('must not hold a user or a password')
  if (url.host !== other?.host) return violation('must not have a variable in its host')
  if (allowedHosts.length > 0 && !allowedHosts.includes(url.host) && !allowedHosts.includes(url.hostname))
    return violation(`leads to a host that is not allowed`)
  return []
}

/** The template with its variables filled in, URL-escaped. */
export function fillTemplate(template: string, values: LinkValues): string {
  return template.replace(variable, (_, name: keyof LinkValues) => encodeURIComponent(values[name]))
}

/** The template of the service's own verification page: what the page needs stays behind the #, so that no server's log sees it. */
export function defaultTemplate(publicUrl: string): string {
  return `${new URL('/ui/verify-email', publicUrl).href}#userId={{.UserID}}&code={{.Code}}`
}
