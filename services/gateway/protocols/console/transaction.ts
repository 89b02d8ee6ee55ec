import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { signInWithin } from '../../auth/console-place.ts'

/** One sign-in to the console. Nothing of it is stored: all comes from `state` and the secret in the cookie. */
export interface Transaction {
  state: string
  nonce: string
  verifier: string
  /** Of the verifier. */
  challenge: string
}

/** What `state` carries. */
export interface Begun {
  /** The path that the person wants. */
  to: string
  /** It follows another one that came back without the cookie. */
  again: boolean
}

export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Begins a sign-in. Several in one browser share a secret, so tabs do not disturb each other. */
export function beginTransaction(secret: string, { to, again }: Begun, now: number): Transaction {
  const content = JSON.stringify([to, again, Math.floor(now / 1000), randomBytes(16).toString('base64url')])
  const text = Buffer.from(content).toString('base64url')
  return transactionOf(secret, `${text}.${mac(secret, 'state', text)}`)
}

/** The sign-in that a callback answers. Undefined where this secret did not begin it, or too long ago. */
export function openTransaction(secret: string, state: string, now: number): (Transaction & Begun) | undefined {
  const [text = '', given = ''] = state.split('.')
  const [own, other] = [mac(secret, 'state', text), given].map((part) => Buffer.from(part))
  if (own!.length !== other!.length || !timingSafeEqual(own!, other!)) return undefined
  const begun = readState(state)
  const isTimely = begun !== undefined && now / 1000 - begun.at <= signInWithin
  return isTimely ? { ...transactionOf(secret, state), ...begun } : undefined
}

/** What a `state` says, whoever wrote it. Undefined for any other text. */
export function readState(state: string): (Begun & { at: number }) | undefined {
  try {
    const [to, again, at] = JSON.parse(Buffer.from(state.split('.')[0]!, 'base64url').toString()) as unknown[]
    return typeof to === 'string' && typeof at === 'number' ? { to, again: again === true, at } : undefined
  } catch {
    return undefined
  }
}

function transactionOf(secret: string, state: string): Transaction {
  const verifier = mac(secret, 'verifier', state)
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  return { state, nonce: mac(secret, 'nonce', state), verifier, challenge }
}

function mac(secret: string, purpose: string, text: string): string {
  return createHmac('sha256', secret).update(`${purpose} ${text}`).digest('base64url')
}
