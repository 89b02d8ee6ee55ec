import { expect, inject } from 'vitest'
import { newHuman, newOrganization, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { newCode, newWebApplication, openBrowser, readText, redeem } from '../../examples/sign-in.ts'
import { openBrowserAt } from '../../support/browsers/browser.ts'
import { factsIn } from './authorize-mistakes.ts'
import { watchRequest } from './log-line.ts'
import { type MistakesTable, named } from './table.ts'

const returnUri = 'https://app.example.com/bye'
const elsewhere = 'https://other.example.com/bye'

/** What is sent. OWN, FOREIGN: an ID token of the application, or of another one. */
const mistakes: Record<string, [string, string][]> = {
  'a `post_logout_redirect_uri` with a slash too many': [
    ['client_id', 'CLIENT'],
    ['post_logout_redirect_uri', `${returnUri}/`],
  ],
  'a `post_logout_redirect_uri` on another host, with an `id_token_hint`': [
    ['id_token_hint', 'OWN'],
    ['post_logout_redirect_uri', elsewhere],
  ],
  'a `post_logout_redirect_uri` alone': [['post_logout_redirect_uri', returnUri]],
  'a `client_id` that no application has': [
    ['client_id', 'nobody'],
    ['post_logout_redirect_uri', returnUri],
  ],
  'a `client_id` that no application has, alone': [['client_id', 'nobody']],
  'an `id_token_hint` that is none of Roster': [['id_token_hint', 'none']],
  'an `id_token_hint` of another client than `client_id`': [
    ['client_id', 'CLIENT'],
    ['id_token_hint', 'FOREIGN'],
  ],
  '`client_id` twice': [
    ['client_id', 'CLIENT'],
    ['client_id', 'CLIENT'],
  ],
}

/** Sends each to Roster: by a browser with a session, and by one without. */
export async function openSignOutMistakes(): Promise<MistakesTable> {
  const home = await newOrganization()
  const [project, person] = [await newProject(home), await newHuman(home, { password: unique('Password') })]
  const settings = { postLogoutRedirectUris: [returnUri] }
  const [application, other] = [
    await newWebApplication(home, project, settings),
    await newWebApplication(home, project, settings),
  ]
  const browser = openBrowser()
  const idTokenOf = async (of: typeof application): Promise<string> =>
    (await redeem(of, await newCode(person, of, { scope: 'openid' }, browser))).body.id_token
  const names: Record<string, string> = {
    CLIENT: application.clientId,
    OWN: await idTokenOf(application),
    FOREIGN: await idTokenOf(other),
  }
  return {
    columns: ['With a session the page says', 'Without a session it says', 'The log says'],
    mistakes: Object.keys(mistakes),
    async tell(mistake) {
      const sent = mistakes[mistake]!.map(([name, value]) => [name, names[value] ?? value])
      const path = `/oidc/v1/end_session?${String(new URLSearchParams(sent as [string, string][]))}`
      const [asked, gone] = [await visit(path, browser.cookie()), await visit(path, '')]
      expect(asked.body).toContain('value="stay"')
      expect(gone.lines).toEqual(asked.lines)
      return [factsIn(asked.body), factsIn(gone.body), asked.lines.join('; ')].map((text) => named(text, names))
    },
  }
}

/** A page, and what is logged under the id that stands on it. */
async function visit(path: string, cookie: string) {
  const { headers, requestId, logged } = watchRequest()
  const { status, body } = await openBrowserAt(inject('roster').url, cookie, headers).visit(path)
  expect(status).toBe(200)
  expect(readText(body)).toContain(requestId)
  return { body, lines: (await logged()).map(lineOf) }
}

function lineOf({ level, msg, parameter, reason, clientId, ...rest }: Record<string, unknown>): string {
  expect({ level, msg, clientId }).toEqual({
    level: 30,
    msg: 'a sign-out request has a mistake',
    clientId: expect.any(String),
  })
  expect(Object.keys(rest).toSorted()).toEqual(['requestId', 'service', 'time'])
  expect(reason).toMatch(new RegExp(`^${String(parameter)} `))
  return `\`reason\` ${String(reason)}`
}
