import * as fc from 'fast-check'
import { expect } from 'vitest'
import { authorizePath, formOf, redirectUri, type Shown } from '../../examples/sign-in.ts'
import { readPage } from '../../examples/sign-in-kinds.ts'
import { command, type SignInCommand } from './command.ts'
import { atProvider, change, mayHappen, meanwhile, press } from './provider.ts'
import { isOffered, serves, tolerance } from './provider-rules.ts'
import type { Place } from './place.ts'
import {
  type Application,
  isAlive,
  lifetimes,
  mayCome,
  maySignIn,
  type Model,
  type Name,
  type Next,
  next,
  type Page,
  people,
  type Request,
  type Session,
  silently,
  standsOn,
} from './rules.ts'

/** More often one of the two, so that steps meet. */
const browser = fc.constantFrom(0, 0, 0, 1)
const application = fc.constantFrom<Application>('own', 'asking')
const user = fc.constantFrom<Name>('ada', 'bob')
const scopes = fc.constantFrom<string[]>([], ['openid'], ['openid', 'profile'], ['openid', 'profile', 'offline_access'])
/** Of the pages that fit, by its age: also one that the person went back to. */
const page = fc.constantFrom(0, 0, 0, 1, 2)

export const visit = command(
  'visit',
  fc.record({
    browser,
    application,
    scopes,
    prompt: fc.constantFrom('', '', '', 'login', 'consent', 'select_account'),
  }),
  {
    async run(model, place, { browser, ...asked }) {
      const { application, scopes, prompt } = asked
      const path = authorizePath(place.applications[application], { scope: scopes.join(' '), prompt })
      const shown = await place.browsers[browser]!.visit(path)
      compare(model, place, browser, shown, begin(model, browser, { ...asked, restarts: false }))
    },
  },
)

const silent = command('silent', fc.record({ browser, application, scopes }), {
  async run(model, place, { browser, application, scopes }) {
    const path = authorizePath(place.applications[application], { scope: scopes.join(' '), prompt: 'none' })
    const shown = await place.browsers[browser]!.visit(path)
    compare(model, place, browser, shown, {
      next: silently(model, model.browsers[browser]!, application, scopes),
      application,
    })
  },
})

export const signIn = onPage(
  'sign in',
  ['sign in', 'password'],
  { user, right: fc.constantFrom(true, true, true, true, false) },
  {
    // After five of a kind the person has to wait.
    check: ({ kind, request }, { user, right }, { failures, users }) =>
      failures < 4 ||
      (right && kind === 'sign in' && maySignIn(users[user]) && (!request.given || request.given.user === user)),
    fill(place, { user, right }) {
      const { userName: login_name, password } = place.people[user]
      return { action: 'sign-in', login_name, password: right ? password : 'not it' }
    },
    apply(model, index, { request }, { user, right }) {
      const browser = model.browsers[index]!
      if (!right || !maySignIn(model.users[user])) {
        request.failed = true
        return void model.failures++
      }
      const session = signedIn(model, browser, user)
      session.checked = model.tick
      session.first.password = true
      proceed(request, { session, choseAccount: true })
      request.proved = true
    },
  },
)

/** The session of a person in a browser, who has just signed in there. */
function signedIn(model: Model, browser: Model['browsers'][number], user: Name): Session {
  const { signOuts, organizationClosings } = model.users[user]
  const known = people(model, browser).find((each) => each.user === user)
  const first = { password: false, link: undefined }
  const began = { user, began: model.tick, checked: 0, until: 0, ended: false, first, second: false }
  const session = known ?? { ...began, signOuts, organizationClosings }
  session.until = model.time + lifetimes.session
  if (!known) browser.sessions = [...browser.sessions.filter((each) => each.user !== user), session]
  return session
}

/** Whether the same code comes again, by the password of the person who got it. Undefined: nobody can tell. */
function comesAgain(
  model: Model,
  { request: { given } }: Page,
  { user, right }: { user: Name; right: boolean },
): boolean | undefined {
  if (!given) return false
  if (!isAlive(model, given.session)) return undefined
  const age = Date.now() / 1000 + model.time - given.at
  if (age > lifetimes.code - 20 && age < lifetimes.code + 1) return undefined
  if (age > lifetimes.code) return false
  const isRight = right && user === given.user && maySignIn(model.users[user])
  if (!isRight) model.failures++
  return isRight && given.redeemed === undefined
}

export const chooseRecoveryCode = onPage(
  'choose a recovery code',
  ['app code'],
  {},
  {
    fill: () => ({ action: 'by-recovery-code' }),
    apply(model, index, { request }) {
      const { kind, session } = next(model, model.browsers[index]!, request)
      if (kind === 'app code' && !model.users[session!.user].needsApp) request.way = 'recovery code'
    },
  },
)

/** Ada presses the button of the provider, signs in there, and comes back; meanwhile somebody may change what counts. */
export const signInByProvider = onPage(
  'sign in by a provider',
  ['sign in', 'password'],
  { meanwhile },
  {
    check: (page, { meanwhile }, model) =>
      isOffered(model, page) &&
      model.provider.isLinked &&
      // On an older page, too, the request is that of the person who has begun to sign in.
      page.request.session?.user !== 'bob' &&
      mayHappen[meanwhile ?? 'nothing'](model) &&
      !page.request.answer &&
      model.time < page.request.until,
    async go(model, place, { browser, meanwhile }, shown) {
      const real = place.browsers[browser]!
      // A page of before the provider was listed has no button.
      const page = shown.body.includes('/provider"') ? shown : await real.visit(pageOf(shown))
      const back = await atProvider(place, await press(real, page, place.idpId), { sub: place.subjects.at(-1)! })
      if (meanwhile) await change[meanwhile](model, place)
      return real.visit(back)
    },
    apply(model, index, { request }) {
      const { links, isLinked } = model.provider
      const isLate = request.prompt === 'login' && model.time + model.before > tolerance
      if (!serves(model) || !isLinked || isLate || !maySignIn(model.users.ada)) {
        request.failed = true
        return
      }
      const session = signedIn(model, model.browsers[index]!, 'ada')
      // It says when only where it is asked.
      if (request.prompt === 'login') session.checked = model.tick
      session.first.link = links
      proceed(request, { session, choseAccount: true })
    },
  },
)

/** Each counts once. */
export const useRecoveryCode = onPage(
  'use a recovery code',
  ['recovery code'],
  {},
  {
    check: (page, _drawn, model) => mayTry(model, page),
    fill: (place, _drawn, _shown, { request }) => ({
      action: 'check',
      code: place.people[request.session!.user].codes.shift()!,
    }),
    apply(model, index, { request }) {
      const { kind, session } = next(model, model.browsers[index]!, request)
      if (kind !== 'recovery code') return
      model.users[session!.user].usedCodes.push(model.time)
      session!.second = true
      proceed(request, { session, choseAccount: true })
    },
  },
)

// Right ones count, too. Of a person who was replaced on the page meanwhile, nobody knows whose code it would be.
function mayTry(model: Model, { request }: Page): boolean {
  const { session } = request
  if (!session || !model.users[session.user].hasApp) return false
  return model.users[session.user].usedCodes.filter((at) => at > model.time - 601).length < 4
}

const choose = onPage(
  'choose',
  ['accounts'],
  { user: fc.constantFrom<Name | 'another'>('ada', 'bob', 'another') },
  {
    check: ({ sessions }, { user }) => user === 'another' || sessions.some((session) => session.user === user),
    fill(place, { user }, { body }) {
      if (user === 'another') return { session_id: '' }
      const { userName } = place.people[user]
      const buttons = [...body.matchAll(/name="session_id" value="([^"]*)">(.*?)<\/button>/gs)]
      return { session_id: buttons.find(([, , text]) => text!.includes(userName))![1]! }
    },
    apply(model, _index, { request, sessions }, { user }) {
      if (user === 'another') return proceed(request, { asksName: true })
      const session = sessions.find((each) => each.user === user)!
      if (
        isAlive(model, session) &&
        mayCome(model, user, request.application) &&
        model.applications[request.application].isOpen
      )
        proceed(request, { session, choseAccount: true })
    },
  },
)

export const decide = onPage(
  'decide',
  ['consent'],
  { action: fc.constantFrom('allow' as const, 'allow' as const, 'deny' as const, 'another-account' as const) },
  {
    fill: (_place, { action }) => ({ action }),
    apply(model, index, { request }, { action }) {
      if (action === 'another-account') return proceed(request, { asksName: true })
      const { kind, session, lacking } = next(model, model.browsers[index]!, request)
      if (kind !== 'consent') return
      if (action === 'deny') return void Object.assign(request, { session, decision: 'denied' })
      const consent = model.consents[`${session!.user} ${request.application}`]
      Object.assign(consent, { given: true, scopes: [...new Set([...consent.scopes, ...lacking!])] })
      Object.assign(request, { session, decision: 'allowed' })
    },
  },
)

const leave = onPage(
  'leave',
  ['sign in', 'password', 'no access'],
  { action: fc.constantFrom('cancel', 'another-account') },
  {
    check: ({ kind }, { action }) => action === 'cancel' || kind !== 'sign in',
    fill: (_place, { action }) => ({ action }),
    apply(_model, _index, { request }, { action }) {
      if (action === 'cancel') request.answer = 'cancelled'
      else proceed(request, { asksName: true })
    },
  },
)

const reload = onPage('reload', undefined, {}, {})

const often = [visit, signIn, visit, signIn, decide]

const second = [chooseRecoveryCode, chooseRecoveryCode, useRecoveryCode, useRecoveryCode]

export const pages: fc.Arbitrary<SignInCommand>[] = [
  ...often,
  ...often,
  ...second,
  signIn,
  signInByProvider,
  signInByProvider,
  decide,
  choose,
  silent,
  leave,
  reload,
]

/** What a page does with its form: `fill` fills it in, and `apply` says what that does to an open request. */
interface OnPage<Drawn> {
  check?(page: Page, drawn: Drawn, model: Model): boolean
  fill?(place: Place, drawn: Drawn, shown: Shown, page: Page): Record<string, string>
  /** More than one form. It is done before `apply`, and may change the model. */
  go?(model: Model, place: Place, drawn: Drawn & { browser: number }, shown: Shown): Promise<Shown>
  apply?(model: Model, browser: number, page: Page, drawn: Drawn): void
}

/** A command on a page that the person sees, of these kinds; without `fill` the page is loaded again. */
function onPage<Drawn extends object>(
  name: string,
  kinds: string[] | undefined,
  drawn: { [Key in keyof Drawn]: fc.Arbitrary<Drawn[Key]> },
  { check = () => true, fill, go, apply }: OnPage<Drawn>,
): fc.Arbitrary<SignInCommand> {
  const find = (model: Model, drawn: { browser: number; page: number }) =>
    model.browsers[drawn.browser]!.pages.filter(({ kind }) => kinds?.includes(kind) ?? true)[drawn.page]
  return command(
    name,
    fc.record({ browser, page, ...drawn }) as fc.Arbitrary<Drawn & { browser: number; page: number }>,
    {
      check(model, drawn) {
        const seen = find(model, drawn)
        return seen !== undefined && check(seen, drawn, model)
      },
      async run(model, place, drawn) {
        const seen = find(model, drawn)!
        const { request } = seen
        const isOver = request.answer !== undefined
        const again = name === 'sign in' && isOver ? comesAgain(model, seen, drawn as never) : false
        if (again === undefined) return
        const real = place.browsers[drawn.browser]!
        const before = place.shown.get(seen)!
        const shown = go
          ? await go(model, place, drawn, before)
          : fill
            ? await real.submit(before, fill(place, drawn, before, seen))
            : await real.visit(pageOf(before))
        const isOpen = request.answer === undefined && model.time < request.until
        if (again) {
          const { code } = place.given.get(request.given!)!
          expect(readPage(shown).answer?.searchParams.get('code')).toBe(code)
          return
        }
        if (isOpen) apply?.(model, drawn.browser, seen, drawn)
        const [former] = model.authorizations
        compare(model, place, drawn.browser, shown, showAgain(model, drawn.browser, request))
        const [newest] = model.authorizations
        if (isOpen && request.proved && newest !== former) request.given = newest!
        delete request.proved
      },
    },
  )
}

/** What was known of a request counts no more, but for this. */
function proceed(request: Request, known: Pick<Request, 'session' | 'choseAccount' | 'asksName'>): void {
  for (const name of ['session', 'choseAccount', 'asksName', 'failed', 'decision', 'way'] as const) delete request[name]
  Object.assign(request, known)
}

/** The address of the page of a request, whatever its first form leads to. */
function pageOf({ body }: Shown): string {
  return formOf(body)!.action.replace(/^(\/ui\/login\/[^/]+)\/.*/, '$1')
}

type Expected = { next: Next; application: Application; request?: Request }

function begin(
  model: Model,
  index: number,
  asked: Pick<Request, 'application' | 'prompt' | 'scopes' | 'restarts'>,
): Expected {
  const request: Request = { ...asked, began: model.tick, until: model.time + lifetimes.request }
  const browser = model.browsers[index]!
  const able = people(model, browser).filter(({ user }) => mayCome(model, user, asked.application))
  if (able.length === 1 && asked.prompt !== 'select_account') request.session = able[0]
  return { next: next(model, browser, request), application: asked.application, request }
}

/** The page of a request that was begun before. One that is over begins once more. */
function showAgain(model: Model, index: number, request: Request): Expected {
  const { application, answer, until, restarts } = request
  if (answer) return { next: { kind: answer === 'given' ? 'answered' : 'cancelled' }, application }
  if (model.time < until) return { next: next(model, model.browsers[index]!, request), application, request }
  if (restarts) return { next: { kind: 'request unknown' }, application }
  request.answer = 'given'
  const { prompt, scopes } = request
  return begin(model, index, { application, prompt, scopes, restarts: true })
}

function compare(
  model: Model,
  place: Place,
  index: number,
  shown: Shown,
  { next, application, request }: Expected,
): void {
  const { kind, answer, hasWayOn } = readPage(shown)
  expect(
    { kind, error: answer?.searchParams.get('error') ?? undefined },
    `status ${shown.status}: ${shown.body}`,
  ).toEqual({
    kind: next.kind,
    error: next.error,
  })
  expect(hasWayOn).toBe(true)
  const browser = model.browsers[index]!
  if (answer) {
    if (request) request.answer = 'given'
    expect(answer.href.startsWith(`${redirectUri}&`)).toBe(true)
    expect([answer.searchParams.get('state'), answer.searchParams.get('iss')]).toEqual(['a state & more', place.url])
  } else if (request && shown.body.includes('<form')) {
    const sessions = people(model, browser).filter(({ user }) => mayCome(model, user, application))
    const seen = { kind, request, sessions, person: next.session?.user }
    const button = `value="${place.idpId}"`
    if (model.provider.isThere) expect([kind, shown.body.includes(button)]).toEqual([kind, isOffered(model, seen)])
    place.shown.set(seen, shown)
    browser.pages.unshift(seen)
  }
  const { session, scopes } = next
  if (!session || !scopes) return
  browser.lastUsed[application] = session
  const authorization = {
    user: session.user,
    application,
    session,
    openid: scopes.includes('openid'),
    offline: scopes.includes('offline_access'),
    first: { ...session.first },
    second: session.second,
    at: Date.now() / 1000 + model.time,
    stoodOn: standsOn(model, session.user, application),
  }
  model.authorizations.unshift(authorization)
  place.given.set(authorization, { code: answer!.searchParams.get('code')! })
}
