import { useEffect, useState } from 'preact/hooks'
import { matchRoute, Redirect, Route, Switch, useLocation, useRouter } from 'wouter-preact'
import { announceSignIn } from '../api/interruption.ts'
import { permissionsMethod, readAhead } from '../api/queries.ts'
import { askSession, session, signInPath } from '../api/session.ts'
import { UnsavedQuestion } from '../form/unsaved.tsx'
import { Notices } from '../pieces/notices.tsx'
import { Problem, Quiet } from '../pieces/problem.tsx'
import { common } from '../texts/common.ts'
import { InterruptionDialog } from './interruption-dialog.tsx'
import { Navigation } from './navigation.tsx'
import { base, organizationOf, setHome, type ViewProps } from '../address/place.ts'
import { Shortcuts } from './shortcuts.tsx'
import { TopBar } from './top-bar.tsx'
import { ViewOf } from './view-of.tsx'
import { patternOf, type ViewFile, views } from './views.ts'
import { words } from './words.ts'

/** Everything around the views. It shows nothing before it knows who is signed in. */
export function Shell() {
  const person = session.use()
  const [path] = useLocation()
  const { parser } = useRouter()
  const [error, setError] = useState<Error>()
  const isAlone = path === '/signed-in' || path === '/signed-out'
  useEffect(() => {
    if (isAlone) return
    // The file of the view comes beside the answer to who is signed in.
    const found = views.find((view) => matchRoute(parser, patternOf(view), path)[0]) ?? views[0]!
    let ahead: ViewFile['readFirst']
    found.load().then(
      ({ readFirst }) => (ahead = readFirst),
      () => {},
    )
    open(path, (organization) => ahead?.(organization, new URLSearchParams(location.search))).catch(setError)
  }, [])
  if (isAlone) return <Alone path={path} />
  if (error) return <main id="main">{<Problem error={error} retry={() => location.reload()} />}</main>
  if (!person) return null
  return (
    <div class="shell">
      <a class="skip" href="#main">
        {words.skip}
      </a>
      <Navigation />
      <div class="page">
        <TopBar />
        <main id="main" tabIndex={-1}>
          <Switch>
            {views.map((view) => (
              <Route key={view.path} path={patternOf(view)}>
                {(params: ViewProps['params']) => <ViewOf key={params['org']} view={view} params={params} />}
              </Route>
            ))}
            <Route path="/">
              <Redirect replace to={`/o/${encodeURIComponent(person.organizationId)}`} />
            </Route>
            <Route>
              <Quiet>{common.notFound}</Quiet>
            </Route>
          </Switch>
        </main>
      </div>
      <Notices />
      <UnsavedQuestion />
      <InterruptionDialog />
      <Shortcuts />
    </div>
  )
}

async function open(path: string, readFirst: (organization: string) => void) {
  const now = await askSession()
  if (!now) return location.replace(signInPath(location.pathname + location.search))
  if (!now.hasRole) return location.replace('/ui/account')
  setHome(now.organizationId)
  session.set(now)
  const organization = organizationOf(path)
  readAhead(organization, permissionsMethod, {})
  readFirst(organization)
}

/** Pages without a session: after signing out, and in the tab in which somebody has signed in again. */
function Alone({ path }: { path: string }) {
  useEffect(() => {
    if (path === '/signed-in') announceSignIn()
  }, [])
  return (
    <main id="main" class="alone">
      <h1>Roster</h1>
      <p>{path === '/signed-in' ? words.backToTab : words.signedOut}</p>
      {path === '/signed-out' && <a href={signInPath(base)}>{words.signInAgain}</a>}
    </main>
  )
}
