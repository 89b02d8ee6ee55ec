import { orUnavailable, readNow } from '#lib/database/database'
import type { Context } from './context.ts'
import type { Begun } from './protocols/protocol.ts'

/** A sign-in that an administrator tries. Nothing is stored of it: the `state` has all, sealed. */
export interface Trial extends Omit<Begun, 'state'> {
  idpId: string
  organizationId: string
  /** Who began it. */
  userId: string
  /** Milliseconds since 1970. */
  at: number
}

/** Seconds for which the answer to a trial counts. */
export const trialFor = 600

const purpose = 'idp-trial'
/** What such a state begins with. The header that brings a token comes next, so that users can hand it on. */
const prefix = 'try'

export function stateOf({ keys }: Pick<Context, 'keys'>, trial: Trial, headerName: string): string {
  const header = Buffer.from(headerName).toString('base64url')
  return [prefix, header, keys.encrypt(purpose, JSON.stringify(trial)).toString('base64url')].join('.')
}

/** The trial of a state, as long as its answer counts. */
export async function openTrial(
  { keys, sql }: Pick<Context, 'keys' | 'sql'>,
  state: string,
): Promise<Trial | undefined> {
  const [first, , sealed = ''] = state.split('.')
  if (first !== prefix) return undefined
  let trial: Trial
  try {
    trial = JSON.parse(keys.decrypt(purpose, Buffer.from(sealed, 'base64url'))) as Trial
  } catch {
    // A stranger wrote it.
    return undefined
  }
  const now = await orUnavailable(readNow(sql))
  return now.getTime() - trial.at <= trialFor * 1000 ? trial : undefined
}
