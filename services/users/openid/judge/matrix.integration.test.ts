import { afterAll, beforeAll, expect, test } from 'vitest'
import { OIDCAuthMethodType } from '#gen/roster/grants/v1/application_service'
import { allow, closeWorld, openWorld, users } from '../../sessions/factors/passkey/testing/world.ts'
import { noteApplication, told } from '../authorization/testing/visitors.ts'
import { ofBrowsers, ofPrograms, silently } from './testing/doors.ts'
import { give } from './testing/people.ts'
import { later, signedIn, signInTrusted } from './testing/sign-ins.ts'
import {
  baseOf,
  checked,
  doors,
  expected,
  firstOf,
  ofPeople,
  policies,
  policyNames,
  trustedFor,
} from './testing/tables.ts'

const clientOf = (row: string) => row.replaceAll(', ', '-')

beforeAll(async () => {
  await openWorld()
  const authMethodType = OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE
  const note = (name: string, more = {}) =>
    noteApplication(users, name, { firstParty: true, authMethodType, ...more }, { organizationId: 'acme' })
  await note('own', { loginBaseUri: 'https://login.example.com' })
  for (const [row] of ofPeople) await note(clientOf(row!))
}, 60_000)
afterAll(closeWorld)

test('the table of doors names each that is tried, the table of people each policy', () => {
  expect([...doors.keys()]).toEqual(Object.keys(tries))
  expect(policyNames).toEqual(Object.keys(policies))
})

const tries = { ...ofBrowsers, ...ofPrograms }

/** What a door answers by the tables. */
function answerOf(door: string, policy: string, { missing, isTrusted }: ReturnType<typeof expected>) {
  const { open, shut, trusted } = doors.get(door)!
  const word = missing.length === 0 ? open : isTrusted ? trusted : shut
  if (word === 'asks') return { asks: missing[0] }
  return word === 'asks from the beginning' ? { asks: firstOf(policy) } : word
}

test.each(checked)(
  'a session with %s opens each door as the tables say, whatever the person has and the policy wants',
  async (done) => {
    const { state, things } = await signedIn(done)
    const [, second = 'nothing'] = done.split(', ')
    const isTrusted = second === 'trusted'
    for (const [row, ...cells] of ofPeople) {
      if (isTrusted && !trustedFor(row!, done)) continue
      // Few requests of a browser wait at a time. A code is given while nothing is missing, one for each policy.
      await later()
      state.clientId = clientOf(row!)
      await allow({ allowPasskeys: true })
      if (isTrusted) await signInTrusted(row!, done, state, things)
      else {
        await give(second === 'codes' ? 'app, codes' : second, state.person, things)
        await allow(baseOf(done))
      }
      for (const _ of policyNames) {
        const answer = told(await silently(state))
        expect(answer).toHaveProperty('code')
        state.codes.push(answer['code']!)
      }
      if (!isTrusted) {
        await allow({ allowPasskeys: true })
        await give(row!, state.person, things)
      }
      for (const [at, policy] of policyNames.entries()) {
        await allow(policies[policy]!)
        const wanted = expected({ policy, row: row!, cell: cells[at]! }, done)
        // A browser asks for one page after the other.
        const beside = Object.fromEntries(Object.entries(ofPrograms).map(([door, tried]) => [door, tried(state)]))
        for (const [door, tried] of Object.entries(tries)) {
          const outcome = await (beside[door] ?? tried(state))
          expect({ row, policy, door, outcome }).toEqual({ row, policy, door, outcome: answerOf(door, policy, wanted) })
        }
      }
    }
  },
)
