import { Resolver } from 'node:dns/promises'
import type { Config } from '../config.ts'
import { recordName } from './own-domain.ts'

/** Milliseconds for a whole look, also where name servers are silent. */
const within = 5000
/** Of the records of a name, these are read, each up to so many characters. */
const [mostRecords, longest] = [50, 255]
/** Of what was found instead, an error shows these. */
const [mostShown, longestShown] = [3, 100]

/**
 * What DNS says. `present`: the record is there. `missing`: DNS answered, without it. `unknown`: nobody answered.
 * `problem` says in words what was found instead.
 */
export type Finding = { record: 'present'; problem?: never } | { record: 'missing' | 'unknown'; problem: string }

/** Looks whether the TXT record of a domain has this text. */
export async function findRecord(
  { DNS_SERVERS: servers }: Pick<Config, 'DNS_SERVERS'>,
  domain: string,
  value: string,
): Promise<Finding> {
  const name = recordName(domain)
  const resolver = new Resolver({ timeout: within / 2, tries: 2 })
  if (servers.length > 0) resolver.setServers(servers)
  const over = setTimeout(() => resolver.cancel(), within)
  try {
    return judge(name, value, await resolver.resolveTxt(name))
  } catch (error) {
    const { code = 'no code' } = error as { code?: string }
    if (code === 'ENOTFOUND') return { record: 'missing', problem: `There is no name ${name} in DNS.` }
    if (code === 'ENODATA') return { record: 'missing', problem: `${name} has no TXT record.` }
    return { record: 'unknown', problem: `The name server did not say what ${name} has: ${code}. Try again later.` }
  } finally {
    clearTimeout(over)
  }
}

function judge(name: string, value: string, records: string[][]): Finding {
  const texts = records.slice(0, mostRecords).map((parts) => parts.join('').slice(0, longest + 1))
  // Some consoles of DNS keep the quotes that somebody typed.
  if (texts.some((text) => text.trim().replace(/^"(.*)"$/, '$1') === value)) return { record: 'present' }
  if (texts.length === 0) return { record: 'missing', problem: `${name} has no TXT record.` }
  const shown = texts
    .slice(0, mostShown)
    .map((text) => `"${text.slice(0, longestShown).replace(/[^\x20-\x7e]/g, '?')}"`)
    .join(', ')
  const others = records.length > mostShown ? ` and ${records.length - mostShown} more` : ''
  return {
    record: 'missing',
    problem: `${name} has another text: ${shown}${others}. It must have the one of this domain.`,
  }
}
