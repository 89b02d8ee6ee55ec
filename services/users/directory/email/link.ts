import type { Violation } from '#lib/errors'
import type { Config } from '../../config.ts'

const variable = /\{\{\.(UserID|Code|OrgID)\}\}/g

/** The values that a link may show. */
export interface LinkValues {
  UserID: string
  Code: string
  OrgID: string
}

const examples: LinkValues = { UserID: 'u', Code: 'c', OrgID: 'o' }

/** Which hosts a link may lead to. */
export type Targets = (url: URL) => boolean

/**
 * Permits the hosts of PUBLIC_URL and of EMAIL_LINK_HOSTS. With `anyHost`, permits every host where EMAIL_LINK_HOSTS is
 * empty.
 */
export function linkTargets(
  { PUBLIC_URL, EMAIL_LINK_HOSTS: hosts }: Pick<Config, 'PUBLIC_URL' | 'EMAIL_LINK_HOSTS'>,
  anyHost: boolean,
): Targets {
  if (anyHost && hosts.length === 0) return () => true
  const own = new URL(PUBLIC_URL)
  // Without TLS, others could read the code on its way.
  const isOwn = ({ host, protocol }: URL) => host === own.host && [own.protocol, 'https:'].includes(protocol)
  return (url) => isOwn(url) || hosts.some((host) => [url.hostname, `${url.hostname}:${portOf(url)}`].includes(host))
}

/** Whether a template leads to a host that only callers with permission may name: others may read the code there. */
export function leadsElsewhere(config: Pick<Config, 'PUBLIC_URL' | 'EMAIL_LINK_HOSTS'>, template: string): boolean {
  const url = URL.parse(fillTemplate(template, examples))
  return url !== null && !linkTargets(config, false)(url)
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80')
}

/** Why a urlTemplate is refused: an unknown variable, no absolute http(s) URL, or a host that is not allowed. */
export function checkTemplate(template: string, targets: Targets, field: string): Violation[] {
  const violation = (description: string) => [{ field, description }]
  const rest = template.replace(variable, '')
  const unknown = /\{\{[^{}]*\}\}/.exec(rest)
  if (unknown) return violation(`has the unknown variable ${unknown[0].slice(0, 100)}`)
  if (/[{}]/.test(rest)) return violation('has a brace that does not belong to a variable')
  // Browsers read a backslash as a slash and drop tabs, and other programs do not. They could disagree about the host.
  const authority = /[\s\p{C}\\]/u.test(template) ? undefined : /^https?:\/\/([^/?#]+)/i.exec(template)?.[1]
  const url = authority === undefined ? null : URL.parse(fillTemplate(template, examples))
  if (authority === undefined || !url) return violation('must be an absolute http or https URL')
  if (authority.includes('@')) return violation('must not hold a user or a password')
  if (authority.includes('{')) return violation('must not have a variable in its host')
  return targets(url) ? [] : violation('leads to a host that is not allowed')
}

/** The link in a mail: the URL as the check understood it, not as it was written. */
export function linkOf(template: string, values: LinkValues): string {
  return new URL(fillTemplate(template, values)).href
}

function fillTemplate(template: string, values: LinkValues): string {
  return template.replace(variable, (_, name: keyof LinkValues) => encodeURIComponent(values[name]))
}

/**
 * The template of a page of the service's own, with whose brand it has. The values stand behind the #, so that no server
 * logs them.
 */
export function defaultTemplate(publicUrl: string, page = 'verify-email'): string {
  // Of an invitation, the page has the id in its path.
  const brand = '?organization_id={{.OrgID}}'
  if (page === 'invitation') return `${new URL('/ui/invitation/', publicUrl).href}{{.UserID}}${brand}#code={{.Code}}`
  return `${new URL(`/ui/${page}`, publicUrl).href}${brand}#userId={{.UserID}}&code={{.Code}}`
}
