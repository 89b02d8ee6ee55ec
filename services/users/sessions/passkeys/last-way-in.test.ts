import { expect, test } from 'vitest'
import type { Human } from '../../directory/events/human.ts'
import { defaultPolicy, type PersonPolicy } from '../login-policy/login-policy.ts'
import { keepWayIn } from './last-way-in.ts'

const policy: PersonPolicy = { ...defaultPolicy, allowPasskeys: true, passkeyRpId: 'here' }
const mailing: PersonPolicy = { ...policy, factors: ['mailed-code'] }
const with_ = (...rpIds: string[]) => ({ passkeys: rpIds.map((rpId, id) => ({ id: `${id}`, rpId })) }) as Human
const key = { passkeys: [{ id: 'k', rpId: 'here', secondOnly: true }] } as Human
const [one, two, none] = [with_('here'), with_('here', 'here'), with_()]
const [nothing, password, mailbox, both] = [
  { hasPassword: false, hasMailbox: false },
  { hasPassword: true, hasMailbox: false },
  { hasPassword: false, hasMailbox: true },
  { hasPassword: true, hasMailbox: true },
]

test.each<[string, PersonPolicy, typeof nothing, Human, Human, 'goes' | 'mail' | 'none']>([
  ['the last passkey stays', policy, nothing, one, none, 'none'],
  ['also where a mail could bring the person back, which the refusal says', policy, mailbox, one, none, 'mail'],
  ['but not where the pages send none', { ...policy, hidePasswordReset: true }, mailbox, one, none, 'none'],
  ['one of two goes', policy, nothing, two, one, 'goes'],
  ['one goes beside a password', policy, password, one, none, 'goes'],
  ['not beside a password that the policy does not take', mailing, password, one, none, 'none'],
  ['one goes beside a mailbox whose codes sign in', mailing, mailbox, one, none, 'goes'],
  ['not beside one that was changed of late', mailing, nothing, one, none, 'none'],
  ['not beside a passkey of another domain', policy, nothing, with_('here', 'there'), with_('there'), 'none'],
  ['not beside a security key, which opens no session', policy, nothing, with_('here'), key, 'none'],
  ['a passkey of another domain goes', policy, nothing, with_('there'), none, 'goes'],
  ['one goes that the policy does not allow', { ...policy, allowPasskeys: false }, both, one, none, 'goes'],
])('%s', (_, demanded, beside, before, after, result) => {
  const decide = () => keepWayIn(demanded, beside, before, after)
  if (result === 'goes') expect(decide).not.toThrow()
  else expect(decide).toThrow(expect.objectContaining({ reason: 'LAST_FACTOR', metadata: { recovery: result } }))
})
