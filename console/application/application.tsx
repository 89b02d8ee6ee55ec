import { lazy, Suspense } from 'preact/compat'
import { Link } from 'wouter-preact'
import type { GrantsApplication } from '#gen/console/api'
import { decode, useHere, useTitle, type ViewProps } from '../address/place.ts'
import { useRead } from '../api/queries.ts'
import { ApplicationState, kindOf } from '../applications/about-application.tsx'
import { Forbidden, isForbidden, Problem } from '../pieces/problem.tsx'
import { Tabs } from '../pieces/tabs.tsx'
import { Actions } from './actions.tsx'
import { ApplicationHistory } from './history.tsx'
import { Secrets } from './secrets.tsx'
import { SetUp } from './set-up.tsx'
import { Settings } from './settings.tsx'
import { words } from './words.ts'

const tabs = {
  '': words.setUp,
  settings: words.settings,
  secrets: words.secrets,
  'sign-ins': words.signIns,
  history: words.history,
}

const SignIns = lazy(() => import('../sign-ins/application-sign-ins.tsx'))

/** One application. */
export default function Application({ params: { project = '', id = '', tab = '' } }: ViewProps) {
  const [projectId, appId] = [decode(project), decode(id)]
  const here = useHere()
  const request = { projectId, appId }
  const query = useRead('roster.grants.v1.ApplicationService/GetApplication', request, { fresh: true })
  const of = useRead('roster.grants.v1.ProjectService/GetProject', { projectId }, { enabled: projectId !== '' })
  const application = query.data?.application
  useTitle(application?.name ?? '')
  if (isForbidden(query.error)) return <Forbidden permission="project.app.read" />
  if (query.error && !application) return <Problem error={query.error} retry={() => void query.refetch()} />
  if (!application) return <div class="head ghost" aria-hidden="true" />
  const path = here(`/projects/${encodeURIComponent(application.projectId ?? '')}`)
  return (
    <>
      <div class="head">
        <div>
          <small>
            <Link href={path}>{of.data?.project?.name ?? words.project}</Link>
          </small>
          <h1>{application.name}</h1>
        </div>
        <span class="tag">{kindOf(application)}</span>
        <ApplicationState application={application} />
        <span class="grow" />
        <Actions application={application} />
      </div>
      <Tabs label={words.tabs} path={`${path}/applications/${id}`} tabs={tabs} tab={tab} />
      <Tab key={`${appId} ${tab}`} application={application} tab={tab} />
    </>
  )
}

function Tab({ application, tab }: { application: GrantsApplication; tab: string }) {
  if (tab === 'settings') return <Settings application={application} />
  if (tab === 'secrets') return <Secrets application={application} />
  if (tab === 'sign-ins')
    return (
      <Suspense fallback={null}>
        <SignIns projectId={application.projectId ?? ''} applicationId={application.id ?? ''} />
      </Suspense>
    )
  if (tab === 'history') return <ApplicationHistory application={application} />
  return <SetUp application={application} />
}
