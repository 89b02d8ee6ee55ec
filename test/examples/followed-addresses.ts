import { setTimeout as sleep } from 'node:timers/promises'
import { call } from '../e2e/clients/encodings.ts'
import { newHuman, unique } from './people.ts'

/**
 * Waits until what happened so far counts for whom an address means: until somebody who is added now signs in by the
 * address. Five failures of one name shut it for a minute.
 */
export async function addressesFollowed(organization: string): Promise<void> {
  const { email, password } = await newHuman(organization, { password: unique('Password') })
  for (const pause of [300, 900, 2700, 8100, 0]) {
    const answer = await call('CreateSession', { loginName: email, password })
    if (!answer.error) return
    await sleep(pause)
  }
  throw new Error('addresses are not followed')
}
