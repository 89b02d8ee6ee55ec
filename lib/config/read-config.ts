import { readServerUrls } from './server-urls.ts'
import { readSettingFile, SettingFileError } from './setting-file.ts'

type Environment = Record<string, string | undefined>

/** One setting: the function that reads its text, and its default. A setting without a default is required. */
export interface Setting<T> {
  /** `file` is the file that the text came from. */
  read: (text: string, file?: string) => T
  default?: T
  /** The texts that it accepts, as docs/settings.md says it. */
  accepts?: string
}

/** The settings of a service. docs/settings.md is made from them. */
export type Settings = Record<string, DescribedSetting<unknown>>

export interface DescribedSetting<T> extends Setting<T> {
  /** Markdown for a cell of docs/settings.md. Links start from `docs/`. */
  description: string
}

export function described<T>(description: string, setting: Setting<T>): DescribedSetting<T> {
  return { ...setting, description }
}

/**
 * Reads settings from the environment. Where `<NAME>_FILE` names a file, the setting may come from that file instead.
 * Throws one Error that lists every problem. No message shows a value.
 */
export function readConfig<S extends Record<string, Setting<unknown>>>(
  settings: S,
  environment: Environment = process.env,
): { [K in keyof S]: S[K] extends Setting<infer T> ? T : never } {
  const problems: string[] = []
  const entries = Object.entries(settings).map(([name, setting]) => {
    try {
      const raw = rawValue(name, environment)
      if (raw) return [name, setting.read(raw.text, raw.file)]
      if ('default' in setting) return [name, setting.default]
      problems.push(`${name} is not set (nor ${name}_FILE)`)
    } catch (error) {
      problems.push(`${name} ${error instanceof Error ? error.message : 'cannot be read'}`)
    }
    return [name, undefined]
  })
  if (problems.length > 0) throw new Error(`Configuration: ${problems.join('; ')}.`)
  return Object.fromEntries(entries)
}

/** The text of one setting, by the same rules; undefined where it is not set. */
export function readText(name: string, environment: Environment = process.env): string | undefined {
  return readConfig({ [name]: optional() }, environment)[name]
}

/** Any text. */
export function text(fallback?: string): Setting<string> {
  return withDefault((value) => value, fallback)
}

/** A text that may be missing. */
export function optional(accepts?: string): Setting<string | undefined> {
  return { read: (value) => value, default: undefined, ...(accepts !== undefined && { accepts }) }
}

/** An absolute URL of one of these schemes, such as "nats". */
export function url(schemes: string[], fallback?: string): Setting<string> {
  return withDefault(
    (value) => {
      if (!URL.canParse(value) || !schemes.includes(new URL(value).protocol.slice(0, -1)))
        throw new Error(`is not a URL of the kind ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`)
      return value
    },
    fallback,
    schemes.map((scheme) => `\`${scheme}://\``).join(', '),
  )
}

/** A URL of one of these schemes, which may name several servers, separated by commas. */
export function serverUrls(schemes: string[], fallback?: string): Setting<string> {
  const { read, ...rest } = url(schemes, fallback)
  return {
    ...rest,
    read(value) {
      read(readServerUrls(value)?.first.href ?? '')
      return value
    },
    accepts: `${rest.accepts}; several servers with commas`,
  }
}

/** An origin of HTTP, in the spelling of browsers: lower case, Punycode, and no port that the scheme implies. */
export function origin(fallback?: string): Setting<string> {
  return withDefault(readOrigin, fallback, 'an origin')
}

/** Origins separated by commas, also of other schemes than HTTP; `*` and `null` as they are. */
export function origins(fallback?: string[]): Setting<string[]> {
  const { read } = list()
  const isOther = (text: string) =>
    ['*', 'null'].includes(text) || /^(?!https?:)[a-z][a-z\d+.-]*:\/\/[^/?#@\s]+$/i.test(text)
  return withDefault(
    (value) => read(value).map((text) => (isOther(text) ? text : readOrigin(text))),
    fallback,
    'origins, separated by commas',
  )
}

function readOrigin(text: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
    throw new Error('is not an origin, such as https://id.example.com, without user, path, query and fragment')
  return url.origin
}

/** A whole number between the bounds, both included. */
export function integer(min: number, max: number, fallback?: number): Setting<number> {
  return withDefault(
    (value) => {
      const number = Number(value)
      if (value.trim() === '' || !Number.isInteger(number) || number < min || number > max)
        throw new Error(`is not a whole number from ${min} to ${max}`)
      return number
    },
    fallback,
    `${min} to ${max}`,
  )
}

/** One of these texts. */
export function oneOf(values: readonly string[], fallback?: string): Setting<string> {
  return withDefault(
    (value) => {
      if (!values.includes(value)) throw new Error(`is none of ${values.join(', ')}`)
      return value
    },
    fallback,
    values.map((value) => `\`${value}\``).join(', '),
  )
}

/** Texts separated by commas. Blanks around a text do not count. */
export function list(fallback?: string[]): Setting<string[]> {
  return withDefault(
    (value) =>
      value
        .split(',')
        .map((item) => item.trim())
        .filter(Boolean),
    fallback,
  )
}

/** Hosts separated by commas, with or without a port. Each is spelled as in a URL: lower case and Punycode. */
export function hosts(fallback?: string[]): Setting<string[]> {
  const { read } = list()
  return withDefault((value) => read(value).map(readHost), fallback, 'hosts, separated by commas')
}

function readHost(text: string): string {
  const url = URL.parse(`http://${text}`)
  if (!url || /[/\\?#@\s]/.test(text)) throw new Error('is not a list of hosts, such as app.example.com,localhost:3000')
  // `host` leaves out the default port of the scheme.
  return url.hostname + (/:\d+$/.exec(text)?.[0] ?? '')
}

function withDefault<T>(read: (text: string) => T, fallback: T | undefined, accepts?: string): Setting<T> {
  return { read, ...(fallback !== undefined && { default: fallback }), ...(accepts !== undefined && { accepts }) }
}

function rawValue(name: string, environment: Environment): { text: string; file?: string } | undefined {
  // Where `echo` made a secret, a line feed ends it.
  const text = environment[name]?.replace(/[\r\n]+$/, '')
  if (text !== undefined && text !== '') return { text }
  const file = environment[`${name}_FILE`]
  if (file === undefined || file === '') return undefined
  try {
    return { text: readSettingFile(file), file }
  } catch (cause) {
    const problem = cause instanceof SettingFileError ? `${cause.message} in` : 'cannot be read from'
    throw new Error(`${problem} the file that ${name}_FILE names`, { cause })
  }
}
