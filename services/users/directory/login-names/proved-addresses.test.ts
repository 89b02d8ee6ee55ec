import { describe, expect, test } from 'vitest'
import { canonicalAddress } from '../email/address.ts'
import { noProofs, type Telling, withTelling } from './proved-addresses.ts'

const [a, b, c] = ['a@example.com', 'b@example.com', 'c@example.com']
const profile = { firstName: '', lastName: '', displayName: '', preferredLanguage: '', gender: 0 as const }
const facts = { keyId: '', expiresAt: '' }

type Payload<Type> = Extract<Telling, { type: Type }>['payload']
type Word = Pick<Payload<'human.added'>, 'isVerified' | 'vouchedOn' | 'codeId'>

const instance: Word = { isVerified: true, vouchedOn: 'instance' }
const organization: Word = { isVerified: true }
const unproved: Word = { isVerified: false }

const added = (email: string, word: Word) =>
  ({ type: 'human.added', payload: { userName: '', profile, email, ...word } }) as const
const changed = (email: string, word: Word) => ({ type: 'email.changed', payload: { email, ...word } }) as const
const verified = (payload: Payload<'email.verified'>) => ({ type: 'email.verified', payload }) as const
const byCode = verified({ codeId: '1' })
const mailed = (payload: Partial<Payload<'email.code.requested'>> = {}) =>
  ({ type: 'email.code.requested', payload: { codeId: '1', ...facts, cause: 'change', ...payload } }) as const
const returned = (payload: Partial<Payload<'email.code.returned'>> = {}) =>
  ({ type: 'email.code.returned', payload: { codeId: '1', ...facts, ...payload } }) as const

type Event = { [Type in Telling['type']]: { type: Type; payload: Payload<Type> } }[Telling['type']]

// The address, its proof, and the number of the event that proved it.
const after = (...events: Event[]) =>
  (events.map((event, index) => ({ ...event, position: String(index + 1) })) as Telling[])
    .reduce((proofs, event) => withTelling(proofs, event, canonicalAddress), noProofs)
    .proved.map(({ address, proof, since }) => [address, proof, Number(since)])

describe('an address is proved by', () => {
  test.each<[string, unknown[], ...Event[]]>([
    ['nobody', [], added(a, unproved)],
    ['the word of the organization', [[a, 'organization', 1]], added(a, organization)],
    ['the word of the instance', [[a, 'instance', 1]], added(a, instance)],
    ['the code that the person registered with', [[a, 'code', 1]], added(a, { isVerified: true, codeId: '1' })],
    ['a mailed code', [[a, 'code', 3]], added(a, unproved), mailed(), byCode],
    ['no code that is not entered', [], added(a, unproved), mailed()],
    ['the word of who got the code', [[a, 'organization', 3]], added(a, unproved), returned(), byCode],
    [
      'the word of the instance, which got the code',
      [[a, 'instance', 3]],
      added(a, unproved),
      returned({ vouchedOn: 'instance' }),
      byCode,
    ],
    ['the word of who chose the link', [[a, 'organization', 3]], added(a, unproved), mailed({ askedBy: 'm' }), byCode],
    ['the organization where the code is unknown', [[a, 'organization', 2]], added(a, unproved), byCode],
    ['whoever says so later', [[a, 'instance', 2]], added(a, organization), verified({ vouchedOn: 'instance' })],
    ['who proved it first', [[a, 'instance', 1]], added(a, instance), mailed(), byCode],
    ['the former proof, where a weaker one follows', [[a, 'instance', 1]], added(a, instance), verified({})],
    ['nobody, once that is taken back', [], added(a, instance), changed('A@Example.com', unproved)],
  ])('%s', (_, expected, ...events) => expect(after(...events)).toEqual(expected))
})

describe('a former address', () => {
  test.each<[string, unknown[], ...Event[]]>([
    ['names its person', [[a, 'instance', 1]], added(a, instance), changed(b, unproved)],
    ['is given up for a proved one', [[b, 'code', 4]], added(a, instance), changed(b, unproved), mailed(), byCode],
    [
      'outlives the word of the organization',
      [
        [a, 'instance', 1],
        [b, 'organization', 2],
      ],
      added(a, instance),
      changed(b, organization),
    ],
    ['on that word ends by that word', [[b, 'organization', 2]], added(a, organization), changed(b, organization)],
    [
      'is the proved one alone of two',
      [[c, 'instance', 3]],
      added(a, instance),
      changed(b, organization),
      changed(c, instance),
    ],
    ['comes back with its proof', [[a, 'instance', 1]], added(a, instance), changed(b, unproved), changed(a, unproved)],
    [
      'does not come back once it was given up',
      [[b, 'instance', 2]],
      added(a, instance),
      changed(b, instance),
      changed(a, unproved),
    ],
  ])('%s', (_, expected, ...events) => expect(after(...events)).toEqual(expected))
})
