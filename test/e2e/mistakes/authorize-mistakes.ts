import { newHuman, newOrganization, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, callbackOf, newWebApplication, openBrowser, readText } from '../../examples/sign-in.ts'
import { watchRequest } from './log-line.ts'
import { type MistakesTable, named } from './table.ts'

/** What is sent in place of what is right. An empty parameter is not sent. Pairs are added. */
type Sent = Record<string, string> | [string, string][]

const mistakes: Record<string, Sent> = {
  'no `client_id`': { client_id: '' },
}

/** Sends each to Roster: by a browser in which a person is signed in, and by another one. */
export async function openAuthorizeMistakes(): Promise<MistakesTable> {
  const home = await newOrganization()
  const [project, person] = [await newProject(home), await newHuman(home, { password: unique('Password') })]
  const application = await newWebApplication(home, project)
  const signedIn = openBrowser()
  await callbackOf(person, authorizePath(application), signedIn)
  const names = { CLIENT: application.clientId, PROJECT: project }
  const pathOf = (sent: Sent) =>
    Array.isArray(sent)
      ? `${authorizePath(application)}&${String(new URLSearchParams(sent))}`
      : authorizePath(application, sent)
  return {
    columns: ['The page says', 'The application gets', 'The log says'],
    mistakes: Object.keys(mistakes),
    async tell(mistake) {
      const path = pathOf(mistakes[mistake]!)
      const { headers, requestId, logged } = watchRequest()
      const page = await openBrowser().visit(path, { headers })
      const { location } = await signedIn.visit(path)
      return [
        textOf(page.body).replaceAll(requestId, 'ID'),
        answerIn(location),
        (await logged()).map(lineOf).join('; '),
      ].map((text) => named(text, names))
    },
  }
}

/** What a person reads in a page. */
function textOf(body: string): string {
  const [, main] = /<main>(.*)<\/main>/s.exec(body)!
  return readText(main!.replaceAll(/<h1>(.*?)<\/h1>/gs, '**$1** ').replaceAll(/<[^>]*>/g, ' '))
}

function answerIn(location: string): string {
  if (location === '') return ''
  const { searchParams } = new URL(location)
  return `\`${searchParams.get('error')}\`: ${searchParams.get('error_description')}`
}

function lineOf(line: Record<string, unknown>): string {
  const { level: _level, time: _time, service: _service, requestId: _requestId, msg, ...fields } = line
  return `${String(msg)}: ${JSON.stringify(fields)}`
}
