/** A URL that may name several servers. */
export interface ServerUrls {
  /** The URL with the first server alone. */
  first: URL
  /** Each server, with its port where it has one. */
  hosts: string[]
}

const parts = /^([a-z][a-z\d+.-]*:\/\/(?:[^@/?#]*@)?)([^/?#]*)([/?#].*)?$/i
const schemeWithin = /,\s*[a-z][a-z\d+.-]*:\/\/(?:[^@,/?#]*@)?/gi

/**
 * Reads `scheme://user:password@one:1,two:2/path`, as clients of PostgreSQL write it, and
 * `scheme://user:password@one:1,scheme://two:2`, as those of NATS do. The first user counts for all servers. Undefined
 * for any other text.
 */
export function readServerUrls(text: string): ServerUrls | undefined {
  const [, head, list = '', tail = ''] = parts.exec(text.replaceAll(schemeWithin, ',')) ?? []
  if (head === undefined) return undefined
  const hosts = list.split(',').map((host) => host.trim())
  const first = URL.parse(head + hosts[0]! + tail)
  if (!first || (hosts.length > 1 && !hosts.every(isHost))) return undefined
  return { first, hosts }
}

function isHost(text: string): boolean {
  const url = URL.parse(`http://${text}`)
  return url !== null && url.username === '' && url.pathname === '/'
}

/** The same URL with all of its servers again. */
export function writeServerUrls({ first, hosts }: ServerUrls): string {
  return hosts.length > 1 ? first.href.replace(/^([^/]*\/\/(?:[^@/?#]*@)?)[^/?#]*/, `$1${hosts.join(',')}`) : first.href
}
