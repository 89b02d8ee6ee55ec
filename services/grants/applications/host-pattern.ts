import { getPublicSuffix } from 'tldts'

/**
 * The fault of the authority of an https URI whose first label is `*`, which stands for exactly one label; undefined where
 * it has none. Whoever can take any name below a public suffix would get codes there, so one label of it has to be the
 * application's own.
 */
export function faultOfPattern(authority: string, devMode: boolean): string | undefined {
  if (!devMode) return 'must not have * in its host; with devMode the first label may be *'
  const [, rest] =
    /^\*\.((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*)(?::\d+)?$/.exec(authority) ?? []
  if (rest === undefined) return 'may have * only as the whole first label of its host, and no capital letter after it'
  // Browsers read a host with such an end as an IP address.
  if (/(^|\.)(\d+|0x[0-9a-f]*)$/.test(rest)) return 'must not have * in an IP address'
  return isPublicSuffix(rest) ? 'must not have * directly under a public suffix' : undefined
}

// Of either section of the Public Suffix List, or no name of the DNS at all.
function isPublicSuffix(host: string): boolean {
  return [host, null].includes(getPublicSuffix(host, { allowPrivateDomains: true }))
}
