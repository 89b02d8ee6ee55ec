import type { ExampleApplication } from '../../examples/applications.ts'
import { newAskingApplication } from '../../examples/person-tokens.ts'
import { admin, type ExampleHuman, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser, type Shown } from '../../examples/sign-in.ts'
import { readPage } from '../../examples/sign-in-kinds.ts'
import { call } from '../clients/encodings.ts'

export type Browser = ReturnType<typeof openBrowser>

export const returnUri = 'https://app.example.com/bye'
export const registerableNames = { given_name: 'Grace', family_name: 'Hopper', action: 'register' }

/** What stands for all doors. */
export interface Place {
  home: string
  /** A first party of everybody here, and one that asks for consent. */
  own: ExampleApplication
  asking: ExampleApplication
  friend: ExampleHuman
}

/** A person at a browser. */
export interface Stage extends Place {
  person: ExampleHuman
  browser: Browser
  /** The cookie that the browser had before the present one. */
  former: string
}

export const newPerson = (home: string) => newHuman(home, { password: unique('Password') })

export async function setPlace(): Promise<Place> {
  const home = await newOrganization()
  const projectId = await newProject(home)
  ok(await call('UpdateLoginPolicy', { settings: { allowRegister: true } }, admin(home)))
  return {
    home,
    own: await newWebApplication(home, projectId, { postLogoutRedirectUris: [returnUri] }),
    asking: await newAskingApplication(home, projectId),
    friend: await newPerson(home),
  }
}

export async function setStage(place: Place): Promise<Stage> {
  const stage = { ...place, person: await newPerson(place.home), browser: openBrowser(), former: '' }
  await enter(stage)
  return stage
}

/** The person, or a friend, gives the password, and the cookie of the browser is replaced. */
export async function enter(stage: Stage, { userName, password } = stage.person): Promise<Shown> {
  const { browser, own } = stage
  const asked = await browser.visit(authorizePath(own, { prompt: 'login', login_hint: userName }))
  const page = readPage(asked).kind === 'accounts' ? await browser.submit(asked, { session_id: '' }) : asked
  stage.former = browser.cookie()
  return browser.submit(page, { action: 'sign-in', login_name: userName, password })
}
