import type { Violation } from '#lib/errors'

const variable = /\{\{(.*?)\}\}/g

/** The values that a link may show. */
export interface LinkValues {
  UserID: string
  Code: string
  OrgID: string
}

const example: LinkValues = { UserID: 'user', Code: 'CODE', OrgID: 'organization' }

/** What is wrong with a urlTemplate: another variable, no absolute http(s) URL, or a host that is not allowed. */
export function checkTemplate(template: string, allowedHosts: string[], field: string): Violation[] {
  const violation = (description: string) => [{ field, description }]
  for (const [whole, name] of template.matchAll(variable))
    if (!/^\s*\.(UserID|Code|OrgID)\s*$/.test(name!)) return violation(`has the unknown variable ${whole}`)
  const filled = fillTemplate(template, example)
  if (filled.includes('{{') || filled.includes('}}')) return violation('has a brace that does not belong to a variable')
  const url = URL.parse(filled)
  if (
    !url ||
    /[\s\p{Cc}]/u.test(template) ||
    !/^https?:\/\//i.test(template) ||
    !['http:', 'https:'].includes(url.protocol)
  )
    return violation('must be an absolute http or https URL')
  if (url.username || url.password) return violation('must not hold a user or a password')
  if (/\{\{/.test(template.split(/[/?#]/, 3)[2] ?? '')) return violation('must not have a variable in its host')
  if (allowedHosts.length > 0 && !allowedHosts.includes(url.host) && !allowedHosts.includes(url.hostname))
    return violation(`leads to a host that is not allowed`)
  return []
}

/** The template with its variables filled in, URL-escaped. */
export function fillTemplate(template: string, values: LinkValues): string {
  return template.replace(variable, (_, name: string) =>
    encodeURIComponent(values[name.trim().slice(1) as keyof LinkValues]),
  )
}

/** The template of the service's own verification page: what the page needs stays behind the #, so that no server's log sees it. */
export function defaultTemplate(publicUrl: string): string {
  return `${new URL('/ui/verify-email', publicUrl).href}#userId={{.UserID}}&code={{.Code}}`
}
