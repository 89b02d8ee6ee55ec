import { beforeAll, describe, expect, test } from 'vitest'
import { drawPng } from '#test/support/browsers/png'
import { admin, newHuman, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { openBrowser } from '../../examples/sign-in.ts'
import { call } from '../clients/encodings.ts'
import { hasMailbox, mailTo } from '../mailbox.ts'

const primaryColor = '#7a1fa2'
const helpLink = 'https://acme.example/help'
const isBranded = (body: string) => body.includes(`--accent:${primaryColor}`)

// A mail shows no name that may be a telephone number.
const newName = (name: string) => unique(name).replaceAll(/\d/g, (digit) => 'ghijklmnop'[Number(digit)]!)

let organization: string
let name: string
beforeAll(async () => {
  organization = await newOrganization()
  name = newName('Acme')
  ok(await call('UpdateOrganization', { name }, admin(organization)))
  const brand = { lightTheme: { primaryColor }, logo: drawPng().toString('base64') }
  const owner = await newMember(organization, ['ORG_OWNER'])
  ok(await call('UpdateLoginPolicy', { settings: { brand, helpLink } }, owner))
})

describe.skipIf(!hasMailbox())('the brand of an organization', () => {
  test('is in a mail without a request: the name of the organization, colour, logo and links; and on the page of its link', async () => {
    const person = await newHuman(organization, { password: unique('Password') })
    ok(await call('PasswordReset', { userId: person.userId, sendLink: {} }, admin(organization)))
    const { text, html, link } = await mailTo(person.email)
    expect(text).toContain(`your account at ${name}.`)
    expect(text.trimEnd().endsWith(`\nHelp: ${helpLink}`)).toBe(true)
    expect(html).toContain(`background: ${primaryColor}; color: #ffffff`)
    expect(html).toContain('<img src="cid:')
    const { pathname, search } = new URL(link)
    expect(search).toBe(`?organization_id=${organization}`)
    const browser = openBrowser()
    expect(isBranded((await browser.visit(pathname + search)).body)).toBe(true)
    expect(isBranded((await browser.visit(pathname)).body)).toBe(false)
  })
})
