import { setTimeout as sleep } from 'node:timers/promises'
import { call } from '../e2e/clients/encodings.ts'
import { newHuman, unique } from './people.ts'

/**
 * Waits until the projection of login addresses has all events so far: until a user who is added now can sign in by the
 * address. Five failed sign-ins by one name block it for a minute.
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
