import { expect } from 'vitest'
import { formOf, type openBrowser, readText, type Shown } from '../../examples/sign-in.ts'

/** Where a browser came to: an answer at the client, or a page of the provider's with nothing more to do. */
export interface Arrival {
  /** The parameters of the answer. */
  answer?: Record<string, string>
  /** Where it went, without the query. */
  uri: string
  method: 'GET' | 'POST'
  /** Whether a password was asked for. */
  signedIn: boolean
  /** The first page, and the last one. */
  first: Shown
  last: Shown
}

/** A person at a browser who does what pages ask for, knowing a name and a password, and nothing of whose pages they are. */
export function openPerson(
  browser: ReturnType<typeof openBrowser>,
  { userName, password }: { userName: string; password: string },
  issuer: string,
) {
  return { go }

  async function go(endpoint: string, parameters: Record<string, string>, method?: 'POST'): Promise<Arrival> {
    const query = String(new URLSearchParams(parameters))
    // From another site, whence no cookie comes with a POST.
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      cookie: '',
      origin: 'https://suite.example.com',
      'sec-fetch-site': 'cross-site',
    }
    const first = method
      ? await browser.visit(endpoint, { method, body: query, headers })
      : await browser.visit(`${endpoint}?${query}`)
    let [last, signedIn] = [first, false]
    for (let pages = 0; pages < 4; pages++) {
      const form = formOf(last.body)
      if (!form || new URL(form.action, issuer).origin !== issuer) return { ...leave(last), signedIn, first, last }
      signedIn ||= form.inputs.some(({ autocomplete }) => autocomplete === 'current-password')
      last = await browser.submit(last, { ...pressed(form), ...filled(form) })
    }
    return expect.fail(`There is no end of pages: ${last.body}`)
  }

  function pressed({ button: { name, value = '' } }: Form) {
    return name ? { [name]: value } : {}
  }

  // As a password manager does.
  function filled({ inputs }: Form) {
    const known: Record<string, string> = { username: userName, 'current-password': password }
    const open = inputs.filter((input) => !('readonly' in input) && known[input['autocomplete'] ?? ''] !== undefined)
    return Object.fromEntries(open.map(({ name, autocomplete }) => [name, known[autocomplete!]!]))
  }
}

type Form = NonNullable<ReturnType<typeof formOf>>

function leave({ body, location }: Shown): Pick<Arrival, 'answer' | 'uri' | 'method'> {
  const form = formOf(body)
  if (form) return { answer: form.fields, uri: form.action, method: 'POST' }
  const [, refresh] = /<meta http-equiv="refresh" content="0; url=([^"]+)"/.exec(body) ?? []
  const [, back] = /<a id="back" href="([^"]+)"/.exec(body) ?? []
  const to = location || readText(refresh ?? back ?? '')
  if (to === '') return { uri: '', method: 'GET' }
  const { searchParams, hash } = new URL(to)
  expect(hash).toBe('')
  return { answer: Object.fromEntries(searchParams), uri: to.split('?')[0]!, method: 'GET' }
}
