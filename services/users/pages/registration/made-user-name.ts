import { randomInt } from 'node:crypto'
import { meantName } from '../../directory/meant-name.ts'
import type { Typed } from './typed-registration.ts'

const letters = '23456789abcdefghjkmnpqrstuvwxyz'
const [longest, behind] = [50, 6]

/**
 * The user name of a person who registers, such as `ada.lovelace-k7m2qx`. What stands behind the names keeps people from
 * getting a name that others would take for another person's, such as `admin`, and from finding out which names exist.
 */
export function madeUserName({ givenName, familyName }: Pick<Typed, 'givenName' | 'familyName'>): string {
  const words = meantName(`${givenName} ${familyName}`.normalize('NFKC').toLowerCase()).match(/[\p{L}\p{M}\p{N}]+/gu)
  const named = [...(words ?? ['user']).join('.')].slice(0, longest).join('')
  const made = Array.from({ length: behind }, () => letters[randomInt(letters.length)])
  return `${named}-${made.join('')}`
}
