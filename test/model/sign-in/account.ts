import * as fc from 'fast-check'
import { expect } from 'vitest'
import type { Shown } from '../../examples/sign-in.ts'
import { readPage } from '../../examples/sign-in-kinds.ts'
import { command, type SignInCommand } from './command.ts'
import type { Place } from './place.ts'
import { hasFirst } from './provider-rules.ts'
import { isAlive, lacksFactor, maySignIn, type Model, people, type Session } from './rules.ts'

const browser = fc.nat(1)

/** An application signs out: with an ID token that it has, or without. */
const endSession = command(
  'end session',
  fc.record({
    browser,
    which: fc.constantFrom(undefined, 0, 0, 1),
    decision: fc.constantFrom<'all' | 'one' | 'stay'>('all', 'one', 'stay'),
  }),
  {
    async run(model, place, { browser, which, decision }) {
      const real = place.browsers[browser]!
      const here = people(model, model.browsers[browser]!)
      const redeemed = model.authorizations.filter((each) => each.openid && each.redeemed !== undefined)
      const hinted = redeemed[which ?? -1]
      const hint = hinted && place.given.get(hinted)!.idToken!
      const asked = await real.visit(`/oidc/v1/end_session${hint ? `?id_token_hint=${hint}` : ''}`)
      const own = here.find((session) => session === hinted?.session)
      const meant = here.find(({ user }) => !hinted || user === hinted.user)
      if (own || !meant) {
        if (own) own.ended = true
        return expectKind(asked, 'signed out')
      }
      expectKind(asked, 'sign out')
      const one = buttonOf(asked, place, meant)
      const shown = await real.submit(asked, decision === 'one' ? { session_id: one } : { action: decision })
      expectKind(shown, decision === 'stay' ? 'still signed in' : 'signed out')
      for (const session of here)
        if (decision === 'all' || (decision === 'one' && session === meant)) session.ended = true
    },
  },
)

/** On the page of the own account. */
const ownAccount = command(
  'own account',
  fc.record({ browser, action: fc.constantFrom('session', 'consent', 'here', 'everywhere') }),
  {
    check: (model, { browser }) => theOnly(model, browser) !== undefined,
    async run(model, place, { browser, action }) {
      const session = theOnly(model, browser)!
      const { user } = session
      const real = place.browsers[browser]!
      const paths: Record<string, string> = { session: '/ui/account/activity', consent: '/ui/account/apps' }
      const page = await real.visit(paths[action] ?? '/ui/account')
      expectKind(page, 'account')
      expect(page.body).toContain(place.people[user].userName)
      if (action === 'session') {
        const others = model.browsers
          .flatMap(({ sessions }) => sessions)
          .filter((each) => each.user === user && each !== session && isAlive(model, each))
        const buttons = valuesOf(page, 'session_id')
        expect(buttons).toHaveLength(others.length)
        if (others.length === 0) return
        others.find((each) => each.began === Math.max(...others.map(({ began }) => began)))!.ended = true
        return expectKind(await real.submit(page, { session_id: buttons[0]! }, '/ui/account/session'), 'account')
      }
      if (action === 'consent') {
        const [application_id] = valuesOf(page, 'application_id')
        if (application_id === undefined) return
        const [application] = (['own', 'asking'] as const).filter(
          (each) => place.applications[each].appId === application_id,
        )
        const consent = model.consents[`${user} ${application!}`]
        expect(consent.given).toBe(true)
        Object.assign(consent, { given: false, scopes: [], withdrawals: consent.withdrawals + 1 })
        return expectKind(await real.submit(page, { application_id }, '/ui/account/consent'), 'account')
      }
      if (action === 'here') session.ended = true
      else model.users[user].signOuts++
      expectKind(await real.submit(page, { action }, '/ui/account/sign-out'), 'sign in')
    },
  },
)

export const account: fc.Arbitrary<SignInCommand>[] = [endSession, ownAccount]

/** Who is signed in, in a browser, if nobody else is. */
function theOnly(model: Model, browser: number): Session | undefined {
  const [session, ...others] = people(model, model.browsers[browser]!)
  return session &&
    others.length === 0 &&
    maySignIn(model.users[session.user]) &&
    hasFirst(model, session) &&
    !lacksFactor(model, session)
    ? session
    : undefined
}

function expectKind(shown: Shown, kind: string): void {
  expect([readPage(shown).kind, shown.status]).toEqual([kind, 200])
}

function valuesOf({ body }: Shown, name: string): string[] {
  return [...body.matchAll(new RegExp(`name="${name}" value="([^"]+)"`, 'g'))].map(([, value]) => value!)
}

function buttonOf({ body }: Shown, place: Place, { user }: Session): string {
  const buttons = [...body.matchAll(/name="session_id" value="([^"]*)">(.*?)<\/button>/gs)]
  return buttons.find(([, , text]) => text!.includes(place.people[user].userName))![1]!
}
