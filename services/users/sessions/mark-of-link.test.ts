import { expect, test } from 'vitest'
import { evolveHuman, type Human } from '../directory/events/human.ts'
import type { Link } from '../directory/events/links.ts'
import type { CheckedFactor } from './login-policy/login-policy.ts'
import { markOfLink } from './mark-of-link.ts'

const now = new Date(10_000_000)
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000)
const byProvider = (at: Date, provedAt = at): CheckedFactor => ({
  kind: 'provider',
  idpId: 'acme',
  at,
  provedAt: provedAt.toISOString(),
})
const byPassword = (at: Date): CheckedFactor => ({ kind: 'password', at })
const byPasskey = (at: Date, more: Partial<CheckedFactor> = {}): CheckedFactor => ({ kind: 'passkey', at, ...more })

function humanOf(made: Partial<Link> = {}, more: Partial<Human> = {}): Human {
  const link = {
    idpId: 'acme',
    issuer: 'https://acme.example',
    subject: 'sub',
    linkedAt: ago(5000).toISOString(),
    ...made,
  }
  return { links: [link], ...more } as Human
}

test.each<[string, Human, CheckedFactor[], boolean]>([
  ['the person’s own link', humanOf(), [byProvider(ago(10))], false],
  ['a link that somebody else named', humanOf({ named: true }), [byProvider(ago(10))], true],
  ['a link by an address', humanOf({ domain: 'acme.example' }), [byProvider(ago(10))], true],
  ['an earlier link than the person’s own', humanOf({ linkedAt: ago(1).toISOString() }), [byProvider(ago(10))], true],
  ['a password beside such a link', humanOf({ named: true }), [byPassword(ago(300)), byProvider(ago(10))], false],
  ['an old password beside such a link', humanOf({ named: true }), [byPassword(ago(700)), byProvider(ago(10))], true],
  ['an app beside such a link', humanOf({ named: true }), [byProvider(ago(10)), { kind: 'totp', at: now }], true],
  ['a passkey beside such a link', humanOf({ named: true }), [byProvider(ago(10)), byPasskey(ago(9))], false],
  ['a passkey that was set up by one', humanOf(), [byPasskey(ago(10), { byLink: true })], true],
  ['a password that was set by one', humanOf({}, { passwordByLink: true }), [byPassword(ago(10))], true],
  ['a password that grew old', humanOf({ named: true }), [byPassword(ago(700))], false],
])('what is set up by %s', (_, human, factors, isMarked) => {
  expect(markOfLink(human, factors, now)).toEqual(isMarked ? { byLink: true } : {})
})

test('the next change of a password says anew by what it was set', () => {
  const set = (human: Human, byLink?: true) =>
    evolveHuman(human, { type: 'password.changed', payload: byLink ? { byLink } : {} }, now)
  const marked = set(humanOf(), true)
  expect(marked.passwordByLink).toBe(true)
  expect(set(marked).passwordByLink).toBeUndefined()
})
