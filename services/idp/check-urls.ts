import type { Violation } from '#lib/errors'
import type { Context } from './context.ts'

/**
 * Checks those of the fields that the request has. Each is an address of a provider, which Roster calls, or to which it
 * only sends browsers.
 */
export function checkUrls<Called extends string, Opened extends string = never>(
  called: Called[],
  opened: Opened[] = [],
) {
  return (context: Context, request: { [Name in Called | Opened]?: string | undefined }): Violation[] => [
    ...called.flatMap((field) => violation(field, faultOfCalled(context, request[field]))),
    ...opened.flatMap((field) => violation(field, faultOf(request[field]))),
  ]
}

/** Checks the servers of a directory, which Roster calls. */
export function checkServers({ destinations }: Pick<Context, 'destinations'>, { servers }: { servers: string[] }) {
  return servers.flatMap((server, at) => {
    const url = server.replace(/^ldaps?:/i, 'https:')
    // Any other text breaks a rule of the contract.
    return violation(`servers[${at}]`, URL.canParse(url) ? destinations.faultOf(url) : undefined)
  })
}

function violation(field: string, description: string | undefined): Violation[] {
  return description === undefined ? [] : [{ field, description }]
}

/** The fault of an address of a provider that Roster calls. */
export function faultOfCalled({ destinations }: Pick<Context, 'destinations'>, text: string | undefined) {
  return faultOf(text) ?? (text === undefined ? undefined : destinations.faultOf(text))
}

/** The fault of an address of a provider; undefined where it has none, or is not sent. */
export function faultOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  // The URL standard would repair more: blanks, line ends, backslashes and missing slashes.
  if (!/^https?:\/\/[^\s\\]+$/i.test(text) || !URL.canParse(text)) return 'must be an absolute https URL'
  const { protocol, username, password, hostname, hash } = new URL(text)
  if (protocol !== 'https:' && !thisMachine.has(hostname)) return 'must be an absolute https URL'
  // An empty name of a user leaves no trace but the "@".
  if (username !== '' || password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text)) return 'must not name a user'
  return hash === '' && !text.includes('#') ? undefined : 'must not have a fragment'
}

// Somebody who develops a provider has it here, and no certificate for it.
const thisMachine = new Set(['localhost', '127.0.0.1', '[::1]'])
