import PostalMime from 'postal-mime'
import { describe, expect, test } from 'vitest'
import { drawPng } from '#test/support/browsers/png'
import { compose } from './compose.ts'
import { loadMails } from './render.ts'

const values = {
  kind: 'password-reset' as const,
  displayName: 'Ada',
  code: 'ABC234',
  url: 'https://id.example.com/ui/reset-password#userId=42&code=ABC234',
  host: 'id.example.com',
  validFor: 3_600_000,
}
const brand = {
  lightTheme: { primaryColor: '#7a1fa2', onPrimaryColor: '#ffffff', backgroundColor: '#f6eefa' },
  darkTheme: undefined,
  privacyPolicyLink: 'https://acme.example/privacy?a=1&b=2',
  tosLink: '',
  helpLink: 'https://acme.example/help',
}
const mails = loadMails()

test('a mail says the name wherever it would say the host, and keeps its links', () => {
  const named = { ...values, kind: 'already-registered' as const, name: 'Acme & Sons' }
  const { subject, text, html } = mails.render('en', named)
  expect(subject).toBe('You have an account at Acme & Sons')
  expect(text).toContain('register at Acme & Sons with this address')
  expect(html).toContain('<strong>Acme &amp; Sons</strong>')
  expect(`${subject} ${text}`.replaceAll(values.url, '')).not.toContain('id.example.com')
})

test.each(['', 'see evil.example', 'call +49 30 1234567', '\u202e'])(
  'with the name %j, which a mail may not show, it says the host',
  (name) => {
    expect(mails.render('de', { ...values, name })).toEqual(mails.render('de', values))
  },
)

test('an invitation without an application is to the organization', () => {
  const { text } = mails.render('en', { ...values, kind: 'invitation', name: 'Acme', inviter: 'Gigi', application: '' })
  expect(text).toContain('Gigi invites you to Acme.')
})

describe('the brand of a mail', () => {
  test('is in its button, and in links at its foot, in the language of the mail', () => {
    const { text, html } = mails.render('de', { ...values, brand })
    expect(html).toContain('background: #7a1fa2; color: #ffffff')
    expect(text).toMatch(
      /\n\nDatenschutz: https:\/\/acme\.example\/privacy\?a=1&b=2\nHilfe: https:\/\/acme\.example\/help\n$/,
    )
    expect(html).toContain('href="https://acme.example/privacy?a=1&amp;b=2"')
    expect(html).not.toContain('Nutzungsbedingungen')
  })

  test('is nowhere where there is none', () => {
    const { text, html } = mails.render('en', values)
    expect(html).toContain('background: #1d4ed8; color: #ffffff')
    expect(html).not.toMatch(/<(brand|button-colours|img)/)
    expect(text).not.toContain('Privacy')
  })

  test('writes nothing else than colours and https links', () => {
    const theme = { primaryColor: '#7a1fa2;"><b>', onPrimaryColor: '#ffffff', backgroundColor: 'red' }
    const evil = { ...brand, lightTheme: theme, helpLink: 'javascript:alert(1)', privacyPolicyLink: 'http://x/' }
    const { text, html } = mails.render('en', { ...values, brand: evil, logo: drawPng() })
    expect(html).not.toMatch(/<b>|red|javascript|http:/)
    expect(text).not.toMatch(/javascript|http:/)
  })

  test('has a logo, which lies in the mail, so that nothing is loaded to show it', async () => {
    const logo = drawPng({ width: 100, height: 100 })
    const mail = mails.render('en', { ...values, brand, logo })
    const from = { name: 'Roster', address: 'no-reply@id.example.com', domain: 'id.example.com' }
    const written = compose({ ...mail, from, to: 'ada@example.com', id: 'f81d', date: new Date() })
    const read = await PostalMime.parse(written)
    const [picture, ...others] = read.attachments
    expect([others, picture?.mimeType, picture?.related]).toEqual([[], 'image/png', true])
    expect(Buffer.from(picture!.content as ArrayBuffer).equals(logo)).toBe(true)
    const [, shown] = /<img src="cid:([^"]+)"/.exec(read.html!)!
    expect(picture!.contentId).toBe(`<${shown}>`)
    expect(read.text!.trim()).toBe(mail.text.trim())
  })
})
