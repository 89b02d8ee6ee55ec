import { once } from 'node:events'
import { type IncomingMessage, request as send } from 'node:http'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { admin, type ExampleHuman, getUser, newHuman, newOrganization, ok, uniqueEmail } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'
import { hasMailbox, mailTo } from '../mailbox.ts'
import { allowedLinkHost } from '../running.ts'

const byUrl = inject('roster').house === undefined
const mailbox = hasMailbox() ? '' : ' (skipped: ROSTER_E2E_MAILBOX_URL is not set)'
const refused = {
  'another variable': 'https://app.example.com/?n={{.Name}}',
  'a variable in other case': 'https://app.example.com/?c={{.code}}',
  'an open brace': 'https://app.example.com/?c={{.Code',
  'a relative URL': '/verify?c={{.Code}}',
  'another scheme': 'javascript:alert(1)//{{.Code}}',
  ftp: 'ftp://app.example.com/{{.Code}}',
  'no URL': 'verify me',
  'a variable as host': 'https://{{.Code}}/',
  'a variable in the host': 'https://{{.Code}}.example.com/',
  'a password': 'https://user:secret@app.example.com/',
  empty: '',
}

/** Headers by which services of others were made to link to another host. */
const otherHosts = {
  host: 'evil.example',
  forwarded: 'for=192.0.2.1;host=evil.example;proto=https',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-server': 'evil.example',
  'x-forwarded-proto': 'evil',
  'x-forwarded-port': '6666',
  'x-forwarded-prefix': '//evil.example',
  'x-original-url': 'https://evil.example/',
  'x-host': 'evil.example',
  'x-zitadel-public-host': 'evil.example',
  'x-zitadel-instance-host': 'evil.example',
  referer: 'https://evil.example/',
}

let organization: string
let human: ExampleHuman

beforeAll(async () => {
  organization = await newOrganization()
  human = await newHuman(organization)
})

describe.each(over('json'))('sendCode.urlTemplate over $encoding', ({ call }) => {
  const set = (urlTemplate: string, userId = human.userId, email = uniqueEmail()) =>
    call('SetEmail', { userId, email, sendCode: { urlTemplate } }, admin())

  test.each(Object.entries(refused))('%s: refused, and the address is unchanged', async (_, urlTemplate) => {
    expect(factsOf(await set(urlTemplate))).toMatchObject({ code: 3, fields: ['sendCode.urlTemplate'] })
    expect((await getUser(human.userId)).human.email).toEqual({ email: human.email, isVerified: true })
  })

  test.skipIf(byUrl)(
    `a host outside the allow-list: refused, and the address is unchanged${byUrl ? ' (skipped: the list of a Roster by URL is not known)' : ''}`,
    async () => {
      for (const host of ['evil.example', `${allowedLinkHost}.evil.example`, `sub.${allowedLinkHost}`])
        expect(factsOf(await set(`https://${host}/{{.Code}}`))).toMatchObject({
          code: 3,
          fields: ['sendCode.urlTemplate'],
        })
      expect((await getUser(human.userId)).human.email).toEqual({ email: human.email, isVerified: true })
    },
  )

  test.skipIf(!hasMailbox())(`the mail's link is the template with its variables filled in${mailbox}`, async () => {
    const { userId } = await newHuman(organization)
    const email = uniqueEmail()
    ok(await set('https://app.example.com/{{.OrgID}}/{{.UserID}}?code={{.Code}}', userId, email))
    const { link, code } = await mailTo(email)
    expect(link).toBe(`https://app.example.com/${organization}/${userId}?code=${code}`)
    ok(await call('VerifyEmail', { userId, verificationCode: code }))
  })
})

describe('the mail of a code', () => {
  test.skipIf(!hasMailbox())(`without a template leads to the service's own page${mailbox}`, async () => {
    const { userId } = await newHuman(organization)
    const email = uniqueEmail()
    ok(await json('SetEmail', { userId, email }, admin()))
    const { link, code } = await mailTo(email)
    expect(link).toMatch(/^https?:\/\//)
    expect(link).toContain(userId)
    expect(link).toContain(code)
    if (!byUrl) expect(new URL(link).origin).toBe(inject('roster').url)
  })

  test.skipIf(byUrl)('leads to the service, whatever other hosts a request names', async () => {
    const { userName, email } = await newHuman(organization)
    // All at once: a client address may ask for twenty codes, and other tests do so, too.
    const headers = { 'content-type': 'application/json', ...otherHosts }
    const asking = send(`${inject('roster').url}/v2/users/password_reset`, { method: 'POST', headers })
    asking.end(JSON.stringify({ loginName: userName }))
    const [answer] = (await once(asking, 'response')) as [IncomingMessage]
    expect(answer.resume().statusCode).toBe(200)
    const { link, text, html } = await mailTo(email)
    expect(new URL(link).origin).toBe(inject('roster').url)
    expect(text + html).not.toContain('evil')
  })

  test.skipIf(!hasMailbox())(`is in the language of the user: German, else English${mailbox}`, async () => {
    const subjects = new Map<string, string>()
    for (const preferredLanguage of ['en', 'de-AT', 'fr']) {
      const email = uniqueEmail()
      await newHuman(organization, { email, profile: { preferredLanguage }, verification: {} })
      subjects.set(preferredLanguage, (await mailTo(email)).subject)
    }
    expect(subjects.get('de-AT')).not.toBe(subjects.get('en'))
    expect(subjects.get('fr')).toBe(subjects.get('en'))
  })

  test.skipIf(!hasMailbox())(`has text and HTML, in which names are escaped${mailbox}`, async () => {
    const mailOf = async (name: string) => {
      const email = uniqueEmail()
      const profile = { firstName: name, lastName: name, nickName: name, displayName: name }
      await newHuman(organization, { email, profile, verification: {} })
      return mailTo(email)
    }
    const { text, html, code, link } = await mailOf(`Ada & "Co"`)
    expect(text).toContain(link)
    expect(text).toContain('Hello Ada & "Co",')
    expect(html).toContain(code)
    expect(html).toContain('Hello Ada &amp; &quot;Co&quot;,')
    const marked = await mailOf('<b>Ada</b>')
    expect(marked.html).toContain('Hello,')
    expect(marked.text + marked.html).not.toContain('Ada')
  })
})
