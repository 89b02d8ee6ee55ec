import * as fc from 'fast-check'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { compose } from './compose.ts'
import { unprintable } from './greeted-name.ts'

const letter = {
  from: { name: 'Roster', address: 'no-reply@id.example.com', domain: 'id.example.com' },
  to: 'ada@example.com',
  id: 'f81d',
  date: new Date(),
  language: 'en',
  subject: 'Verify your address',
  text: 'Hello,\n\nABC234\n',
  html: '<p>Hello</p>\n',
}

/** As `render` gives it: one line without characters that control anything. */
const line = fc
  .oneof(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.string({ unit: 'binary', maxLength: 200 }))
  .map((text) => text.toWellFormed().replace(unprintable, ' ').replace(/\s+/gu, ' ').trim())
  .filter((text) => text !== '')
const lines = fc.array(line, { maxLength: 10 }).map((all) => all.map((each) => `${each}\n`).join(''))

const read = (content: string) => content.replaceAll('\r\n', '\n').trimEnd()

test('whatever a mail says, a reader reads the same, and no line is longer than SMTP allows', async () => {
  await fc.assert(
    fc.asyncProperty(line, line, lines, lines, async (name, subject, text, html) => {
      const written = compose({ ...letter, from: { ...letter.from, name }, subject, text, html })
      expect(written).not.toMatch(/[^\x20-\x7e\r\n]|[^\r]\n|\r[^\n]|[^\n]{999}/)
      const mail = await PostalMime.parse(written)
      expect(mail).toMatchObject({
        from: { name, address: letter.from.address },
        subject,
        to: [{ address: letter.to }],
      })
      expect(read(mail.text!)).toBe(text.trimEnd())
      expect(read(mail.html!)).toBe(html.trimEnd())
    }),
    { numRuns: 300 },
  )
})

test.each(['=?utf-8?Q?Other?=', 'x =?utf-8?B?T3RoZXI=?= y', '"quoted" \\ text', 'a <b@c.example>, d', 'ä'.repeat(100)])(
  'a sender and a subject %j are read as they are written',
  async (text) => {
    const mail = await PostalMime.parse(compose({ ...letter, from: { ...letter.from, name: text }, subject: text }))
    expect(mail.from).toEqual({ name: text, address: letter.from.address })
    expect(mail.subject).toBe(text)
  },
)

test('a sender without a name is its address alone', async () => {
  const written = compose({ ...letter, from: { ...letter.from, name: '' } })
  expect(written).toContain('From: no-reply@id.example.com\r\n')
  expect((await PostalMime.parse(written)).from).toEqual({ name: '', address: letter.from.address })
})

test('a text that is plain stays readable in the source of the mail', () => {
  expect(compose(letter)).toContain('\r\n\r\nHello,\r\n\r\nABC234\r\n\r\n--roster-')
})
