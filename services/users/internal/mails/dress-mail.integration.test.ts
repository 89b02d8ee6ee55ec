import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { instance } from '#lib/instance'
import { addPerson, noteApplication, nothingNewer, Visitor } from '../../openid/authorization/testing/visitors.ts'
import { Forgetful } from '../../pages/recovery/testing/forgetful.ts'
import { mailCode } from '../../pages/recovery/request-password-reset.ts'
import { updateLoginPolicy } from '../../sessions/operations/settings/update-login-policy.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { findPageBrand } from '../find-page-brand.ts'

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users, { PUBLIC_URL: 'https://id.example.com' })
  grants = await serveDomains({}, {}, { copied: nothingNewer(['client']) })
  await noteApplication(users, 'client')
  const none = Buffer.alloc(0)
  for (const [organizationId, primaryColor] of Object.entries(colors)) {
    const brand = { lightTheme: { primaryColor }, darkTheme: undefined, logo: none, darkLogo: none, icon: none }
    await updateLoginPolicy.handle(users, { settings: { brand } }, callIn(organizationId))
  }
}, 60_000)
afterAll(async () => {
  await Promise.all([users?.stop(), grants?.stop()])
  await database?.drop()
})

/** The project of the application is of `owner`, and its people are of `acme`. */
const colors = { [instance.id]: '#111111', owner: '#222222', acme: '#333333' }
let number = 0

/** The mail with the code for a forgotten password: of a request, or of the page without one. */
async function reset({ inRequest, organizationId = 'acme' }: { inRequest: boolean; organizationId?: string }) {
  const [browser, name] = [new Forgetful(users), `forgetful-${number++}`]
  const userId = await addPerson(users, name, organizationId)
  if (inRequest) await browser.ask(await browser.begin(), name)
  else await mailCode(users, name, { ...callIn(''), deadline: Date.now() + 30_000 })
  const { name: said, brand } = await browser.mailTo(userId)
  return [said, brand?.lightTheme?.primaryColor]
}

test('a mail of a request says the application, and looks as its pages do', async () => {
  expect(await reset({ inRequest: true })).toEqual(['App client', colors['owner']])
})

test('any other says the organization of its person, and looks as that wants it', async () => {
  expect(await reset({ inRequest: false })).toEqual(['The acme', colors['acme']])
  expect(await reset({ inRequest: false, organizationId: 'other' })).toEqual(['The other', colors[instance.id]])
})

test('a mail goes out without a name where nobody says it', async () => {
  await grants.stop()
  try {
    expect(await reset({ inRequest: false, organizationId: 'nameless' })).toEqual(['', colors[instance.id]])
  } finally {
    grants = await serveDomains({}, {}, { copied: nothingNewer(['client']) })
  }
})

test('a page looks as the organization that it names, and an unknown one as the instance; a request is known in its browser alone', async () => {
  const looks = async (request: { organizationId?: string; requestId?: string; browser?: string }) => {
    const { brand } = await findPageBrand(users, { organizationId: '', requestId: '', browser: '', ...request })
    return brand?.lightTheme?.primaryColor
  }
  const [browser, other] = [new Visitor(users), new Visitor(users)]
  const { requestId } = await browser.begin()
  await other.begin()
  expect([
    await looks({}),
    await looks({ organizationId: 'acme' }),
    await looks({ organizationId: 'unknown' }),
    await looks({ requestId, browser: browser.cookie, organizationId: 'acme' }),
    await looks({ requestId, browser: other.cookie, organizationId: 'acme' }),
    await looks({ requestId: 'unknown', browser: other.cookie }),
  ]).toEqual(['#111111', '#333333', '#111111', '#222222', '#333333', '#111111'])
})
