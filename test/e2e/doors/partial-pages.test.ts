import { beforeAll, expect, inject, test } from 'vitest'
import type { Section } from '../../../services/users/pages/account/sections.ts'
import { type Method, methods } from '#lib/rpc/methods'
import { admin, ok } from '../../examples/people.ts'
import { authorizePath, formOf, type Shown } from '../../examples/sign-in.ts'
import { readPage } from '../../examples/sign-in-kinds.ts'
import { call } from '../clients/encodings.ts'
import { standingOf } from './page-doors.ts'
import { type Browser, type Place, setPlace, setStage, type Stage } from './stage.ts'

// Every page of the own account, and every form of one, also those that need a device, in a browser whose session lacks the
// second factor. The forms are whole: the person had them when the session was.

const { url } = inject('roster')

let place: Place
beforeAll(async () => {
  place = await setPlace()
})

/** What a form does that has several buttons. */
const actions: Record<string, string> = {
  ChangeMyPasskey: 'remove',
  ChangeMyRecoveryCodes: 'make',
  ChangeMyTOTP: 'begin',
  ProveMyEmail: 'send',
}
/** Who lacks the second factor may sign out as well. */
const open = ['LeaveAccount']

const others: Record<Exclude<Section, ''>, true> = {
  'sign-in': true,
  activity: true,
  apps: true,
  data: true,
  email: true,
  password: true,
  passkeys: true,
  providers: true,
  authenticator: true,
  'recovery-codes': true,
  removal: true,
}
const sections = Object.keys(others)

const isOfAccount = ({ page, http }: Method) => page && http?.template.startsWith('/ui/account') === true
const doors = [...methods.values()].filter((method) => isOfAccount(method) && !open.includes(method.desc.name))

interface Forms {
  browser: Browser
  /** What each form of the account has. */
  fields: Record<string, string>
}

async function takeForms({ browser }: Stage): Promise<Forms> {
  const { fields } = formOf((await browser.visit('/ui/account')).body, '/ui/account/profile')!
  return { browser, fields }
}

async function send({ desc, http }: Method, { browser, fields }: Forms): Promise<Shown> {
  if (http!.verb === 'GET') return browser.visit(http!.template)
  const texts = desc.input.fields.map(({ name }) => [name, 'x'])
  const form = { ...Object.fromEntries(texts), ...fields, action: actions[desc.name] ?? '' }
  return browser.visit(http!.template, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers: { origin: url, 'sec-fetch-site': 'same-origin' },
  })
}

/** What somebody could have changed. */
async function changed({ person: { userId } }: Stage): Promise<unknown> {
  const { user } = ok(await call('GetUser', { userId }, admin()))
  return [user.details.sequence, await standingOf({ userId })]
}

test('there are pages of the account, and each form that has buttons has one here', () => {
  expect(doors.length).toBeGreaterThan(10)
  const names = doors.filter(({ desc }) => desc.input.field['action']).map(({ desc }) => desc.name)
  expect(names.toSorted()).toEqual(Object.keys(actions).toSorted())
})

test.each(doors.map((door) => [door.desc.name, door] as const))(
  '%s asks for the second factor, and does nothing',
  async (_, door) => {
    const stage = await setStage(place)
    const { userId } = stage.person
    const forms = await takeForms(stage)
    ok(await call('AddOTPEmail', { userId }, admin()))
    const before = await changed(stage)
    expect(readPage(await send(door, forms)).kind).toBe('code')
    expect(await changed(stage)).toEqual(before)
    // Without it, the very form is a way in.
    ok(await call('RemoveOTPEmail', { userId }, admin()))
    expect(readPage(await send(door, forms)).kind).not.toBe('code')
  },
)

test('no section of the account is shown, and no application gets a code', async () => {
  const stage = await setStage(place)
  const { browser, person, own, asking } = stage
  ok(await call('AddOTPEmail', { userId: person.userId }, admin()))
  const paths = [
    '/ui/account',
    ...sections.map((section) => `/ui/account/${section}`),
    authorizePath(own),
    authorizePath(asking),
    authorizePath(own, { prompt: 'consent' }),
  ]
  for (const path of paths) expect([path, readPage(await browser.visit(path)).kind]).toEqual([path, 'code'])
  const silent = readPage(await browser.visit(authorizePath(own, { prompt: 'none' })))
  expect(silent.answer?.searchParams.get('error')).toBe('login_required')
})
