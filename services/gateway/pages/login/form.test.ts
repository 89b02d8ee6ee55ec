import { expect, test } from 'vitest'
import { namesOf } from './form.ts'
import { html, toText } from './html.ts'

test('an application of a former release is called by what can be seen of its name, else by its host', () => {
  const called = (applicationName: string) =>
    toText(html`${namesOf({ applicationName, host: 'app.example' }).application}`)
  expect(called('Bank \u202emoc.live')).toBe('<strong><bdi>Bank moc.live</bdi></strong>')
  for (const name of ['\u200b', '\u3000 ']) expect(called(name)).toBe('<strong><bdi>app.example</bdi></strong>')
})
