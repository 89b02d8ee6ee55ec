import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { addHumanUser } from '../../directory/operations/user/add-human-user.ts'
import { getEmailCode } from './get-email-code.ts'
import { callIn, openUsers, type TestUsers } from '../../testing/test-users.ts'

let database: TestDatabase
let users: TestUsers

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users, { PUBLIC_URL: 'https://id.example.com' })
})
afterAll(async () => {
  await users?.stop()
  await database?.drop()
})

/** The link of the mail, with a template that was stored unchecked. */
async function linkOf(urlTemplate: string, hosts: string[] = []): Promise<string> {
  const profile = { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 as const }
  const verification = { $case: 'sendCode' as const, value: { urlTemplate } }
  const request = { userName: randomUUID(), profile, email: { email: `${randomUUID()}@example.com`, verification } }
  const { userId } = await addHumanUser.handle(users, request, callIn('acme'))
  const [row] = await users.sql<{ codeId: string }[]>`
    select code_id as "codeId" from unsent_email_codes where user_id = ${userId}
  `
  const config = { ...users.config, EMAIL_LINK_HOSTS: hosts }
  const { code } = await getEmailCode({ ...users, config }, { userId, codeId: row!.codeId, kind: 0, mails: [] })
  return code!.url.replace(userId, 'USER').replace(code!.code, 'CODE')
}

const own = 'https://id.example.com/ui/verify-email?organization_id=acme#userId=USER&code=CODE'

test.each([
  'javascript:alert("{{.Code}}")',
  'https://{{.Code}}.evil.example/',
  'https://id.example.com@evil.example/{{.Code}}',
  'https://app.example.com/\r\nBcc: everybody@example.com',
  `https://app.example.com/{{.Password}}`,
  '',
])('a stored template that would be refused today is not mailed: %j', async (template) => {
  expect(await linkOf(template)).toBe(own)
})

test('nor is a template that leads to none of the hosts configured since', async () => {
  expect(await linkOf('https://app.example.com/{{.Code}}')).toBe('https://app.example.com/CODE')
  expect(await linkOf('https://app.example.com/{{.Code}}', ['other.example.com'])).toBe(own)
  expect(await linkOf('https://app.example.com/{{.Code}}', ['app.example.com'])).toBe('https://app.example.com/CODE')
})

test('the mailed link is the URL as the check understood it', async () => {
  expect(await linkOf('HTTPS://App.Example.com:443/x/../"<{{.Code}}>')).toBe('https://app.example.com/%22%3CCODE%3E')
})
