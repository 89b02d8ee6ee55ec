import type postgres from 'postgres'
import type { Setting } from '../config/read-config.ts'
import { readServerUrls } from '../config/server-urls.ts'
import { readSettingFile } from '../config/setting-file.ts'
import { sharedSessions } from './no-session.ts'
import { beginSession, markSetting, sessionSettings, type Settings } from './session-settings.ts'

/** The schemes of PostgreSQL's URLs. */
export const postgresSchemes = ['postgres', 'postgresql']

/** What the driver takes: it reads neither ports of several hosts nor files of certificates from a URL. */
export type DriverOptions = {
  url: string
  session: DriverSession
} & Pick<postgres.Options<Record<string, never>>, 'host' | 'port' | 'ssl'>

/** What the patched driver does for the session of each connection: see docs/decisions/7-patched-driver.md. */
interface DriverSession {
  /** The first statement, which leaves a mark in the session. */
  begin(mark: string): string
  /** Shows a transaction the mark, right after its `begin`. */
  look: string
  /** The error of the pool, from the moment when one connection finds another one's mark or none. */
  foreign(): Error
}

const standardPort = 5432

/**
 * How the driver reaches the hosts of a URL, with libpq's `sslrootcert`, and what each session begins with: these
 * settings, beside those that every session needs. Throws where that file cannot be read.
 */
export function driverOptions(text: string, own: Settings = {}): DriverOptions {
  const read = readServerUrls(text)
  if (!read) return { url: text, session: sessionOf(own) }
  const { first, hosts } = read
  const session = sessionOf({ ...own, ...takeSettings(first, own) })
  const ssl = tlsOf(first)
  const all = hosts.map((host) => host.replace(/:\d+$/, '').replaceAll(/[[\]]/g, ''))
  const ports = hosts.map((host) => Number(/:(\d+)$/.exec(host)?.[1] ?? standardPort))
  // Its types know one host alone.
  const several = { host: all, port: ports } as unknown as Pick<DriverOptions, 'host' | 'port'>
  return { url: first.href, session, ...(hosts.length > 1 && several), ...(ssl && { ssl }) }
}

function sessionOf(own: Settings): DriverSession {
  return {
    begin: (mark) => beginSession(own, mark),
    look: `; select pg_catalog.current_setting('${markSetting}', true) as mark`,
    foreign: sharedSessions,
  }
}

// A URL may say by itself how statements are planned, and how long they take. The driver would send that with the first
// message.
function takeSettings(url: URL, own: Settings): Settings {
  const asked = Object.keys(sessionSettings).filter((name) => name in own && url.searchParams.has(name))
  const taken = Object.fromEntries(asked.map((name) => [name, url.searchParams.get(name)!]))
  for (const name of asked) url.searchParams.delete(name)
  return taken
}

// A file means that the server is verified. Only `verify-ca` lets its certificate have any name.
function tlsOf(url: URL) {
  const [file, mode] = ['sslrootcert', 'sslmode'].map((name) => url.searchParams.get(name))
  if (!file || file === 'system') return undefined
  url.searchParams.delete('sslrootcert')
  if (mode === 'disable') return undefined
  const ca = readSettingFile(file)
  return { ca, ...(mode === 'verify-ca' && { checkServerIdentity: () => undefined }) }
}

/** A setting that is a URL of PostgreSQL. */
export const postgresUrl: Setting<string> = {
  read(text) {
    const first = readServerUrls(text)?.first
    if (!first || !postgresSchemes.includes(first.protocol.slice(0, -1)))
      throw new Error(`is not a URL of the kind ${postgresSchemes.map((scheme) => `${scheme}://`).join(' or ')}`)
    try {
      driverOptions(text)
    } catch (cause) {
      throw new Error('names a file by sslrootcert that cannot be read', { cause })
    }
    return text
  },
  accepts: `${postgresSchemes.map((scheme) => `\`${scheme}://\``).join(', ')}; several hosts with commas`,
}
