import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import { canonicalJson } from './canonical-row.ts'
import type { ChainPlace } from './page.ts'

/** What a checkpoint says: that the chain of a service had this hash. */
export interface Checkpoint {
  service: string
  /** From 1, without a gap. */
  number: number
  /** The hash of the checkpoint before it, as it was signed; empty for the first one. */
  previous: string
  /** When it was signed. RFC 3339. */
  at: string
  epoch: number
  /** Why the epoch began; empty for the first one. */
  reason: string
  page: number
  /** The hash of that page. */
  hash: string
  /** The last event of that page. */
  last: ChainPlace
  /** Events of the epoch up to there. */
  events: number
  /** The key of the checkpoints from the next one on, where it changes. */
  nextKey?: string
}

/**
 * A public key as a JSON Web Key (RFC 8037). Its `kid` is its thumbprint (RFC 7638), so the key cannot be exchanged.
 */
export interface AuditKey {
  kty: string
  crv: string
  x: string
  kid: string
  use: string
  alg: string
}

const type = 'roster-checkpoint'
const algorithm = 'EdDSA'

/** Makes a key that signs checkpoints. `secret` is its private half as text. */
export function makeAuditKey(): { key: AuditKey; secret: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { x } = publicKey.export({ format: 'jwk' }) as { x: string }
  return { key: keyOf(x), secret: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() }
}

function keyOf(x: string): AuditKey {
  const known = { crv: 'Ed25519', kty: 'OKP', x }
  return {
    ...known,
    kid: createHash('sha256').update(canonicalJson(known)).digest('base64url'),
    use: 'sig',
    alg: algorithm,
  }
}

/** Signs a checkpoint: a JSON Web Signature (RFC 7515) in its compact form. */
export function signCheckpoint(checkpoint: Checkpoint, kid: string, secret: string): string {
  const signed = `${encode({ alg: algorithm, kid, typ: type })}.${encode(checkpoint)}`
  return `${signed}.${sign(null, Buffer.from(signed), createPrivateKey(secret)).toString('base64url')}`
}

/** A checkpoint as it was read. */
export interface SignedCheckpoint {
  checkpoint: Checkpoint
  kid: string
  jws: string
  /** The hash that its successor names. */
  hash: string
}

/**
 * Whether the parts of a JWS are base64url as RFC 7515 has it, and the text its only spelling. Other readers take
 * padding, line feeds and any last bits, too.
 */
export function isStrict(jws: string): boolean {
  return jws.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)
}

/** Reads a checkpoint without looking at its signature. Throws where it is none. */
export function readCheckpoint(jws: string): SignedCheckpoint {
  if (!isStrict(jws)) throw new Error('it is not written as a checkpoint is')
  const [head, body, signature, ...rest] = jws.split('.')
  const { alg, typ, kid } = decode(head) as Record<string, unknown>
  const checkpoint = decode(body) as Checkpoint
  if (
    alg !== algorithm ||
    typ !== type ||
    typeof kid !== 'string' ||
    !signature ||
    rest.length > 0 ||
    !isOne(checkpoint)
  )
    throw new Error('it is no checkpoint')
  return { checkpoint, kid, jws, hash: hash('sha256', jws) }
}

/** Whether one of these keys made the signature. */
export function isSigned({ jws, kid }: SignedCheckpoint, keys: Iterable<AuditKey>): boolean {
  const [head, body, signature] = jws.split('.')
  for (const known of keys) {
    // The thumbprint is made anew: what stands beside a key may be forged.
    if (known?.kid !== kid || keyOf(known.x).kid !== kid) continue
    const key = readKey(known.x)
    if (key && verify(null, Buffer.from(`${head}.${body}`), key, Buffer.from(signature!, 'base64url'))) return true
  }
  return false
}

function readKey(x: string): KeyObject | undefined {
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  } catch {
    return undefined
  }
}

function isOne(value: Partial<Checkpoint>): boolean {
  const { service, number, previous, at, epoch, page, hash: digest, last, events } = value
  return (
    [service, previous, at, digest, last?.position, last?.transactionId].every((one) => typeof one === 'string') &&
    [number, epoch, page, events].every((one) => Number.isSafeInteger(one))
  )
}

function encode(value: object): string {
  return Buffer.from(canonicalJson(value)).toString('base64url')
}

function decode(text: string | undefined): unknown {
  return JSON.parse(Buffer.from(text ?? '', 'base64url').toString('utf8')) ?? {}
}
