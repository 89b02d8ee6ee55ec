import { RosterError, type Violation } from '#lib/errors'
import { malformed } from '../json/errors.ts'

/** The call in a query. */
export interface QueryCall {
  isJson: boolean
  /** How the message is compressed, as `content-encoding` would say it. */
  compression: string | undefined
  message: Uint8Array
}

const known = ['connect', 'encoding', 'message', 'base64', 'compression'] as const
type Name = (typeof known)[number]

/**
 * Reads the query of a GET. Each parameter may come once, and no other ones. INVALID_ARGUMENT REQUEST_MALFORMED,
 * PROTOCOL_VERSION_UNSUPPORTED.
 */
export function readQuery(query: string): QueryCall {
  const { values, violations } = split(query)
  const [encoding, base64, compression] = (['encoding', 'base64', 'compression'] as const).map((name) =>
    values.get(name)?.toString('latin1'),
  )
  if (encoding !== 'proto' && encoding !== 'json')
    violations.push({ field: 'encoding', description: 'must be proto or json' })
  if (base64 !== undefined && base64 !== '1') violations.push({ field: 'base64', description: 'must be 1 or left out' })
  const sent = values.get('message')
  const message = sent && base64 === '1' ? fromBase64(sent) : sent
  if (!message)
    violations.push({ field: 'message', description: sent ? 'is not base64 for addresses' : 'must be given' })
  if (violations.length > 0 || !message) throw malformed(violations)
  checkVersion(values.get('connect')?.toString('latin1'), 'v1')
  return { isJson: encoding === 'json', compression, message }
}

function split(query: string) {
  const values = new Map<Name, Buffer>()
  const violations: Violation[] = []
  for (const pair of query.split('&').filter(Boolean)) {
    const at = pair.indexOf('=')
    const text = at < 0 ? pair : pair.slice(0, at)
    const name = known.find((candidate) => candidate === text)
    const value = unescapeBytes(at < 0 ? '' : pair.slice(at + 1))
    if (!name) violations.push({ field: text.slice(0, 200), description: 'is not a parameter of Connect' })
    else if (values.has(name)) violations.push({ field: name, description: 'is given twice' })
    else if (!value) violations.push({ field: name, description: 'is not percent-encoded' })
    else values.set(name, value)
    if (violations.length === 100) break
  }
  return { values, violations }
}

// A message in protobuf is percent-encoded bytes, which need not be UTF-8.
function unescapeBytes(text: string): Buffer | undefined {
  if (/%(?![0-9a-f]{2})|[^\x21-\x7e]/i.test(text)) return undefined
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)))
  return Buffer.from(bytes, 'latin1')
}

// Node reads any letters as base64. Only the text that it would write itself has one meaning.
function fromBase64(sent: Buffer): Buffer | undefined {
  const text = sent.toString('latin1')
  const bytes = Buffer.from(text, 'base64url')
  const written = bytes.toString('base64url')
  return text === written || text === written.padEnd(Math.ceil(written.length / 4) * 4, '=') ? bytes : undefined
}

/** A client may name the version of Connect, and it must be 1 then. INVALID_ARGUMENT PROTOCOL_VERSION_UNSUPPORTED. */
export function checkVersion(named: string | undefined, wanted: '1' | 'v1'): void {
  if (named === undefined || named === wanted) return
  const message = `The version of the Connect protocol must be ${wanted}.`
  throw new RosterError('INVALID_ARGUMENT', 'PROTOCOL_VERSION_UNSUPPORTED', message)
}
