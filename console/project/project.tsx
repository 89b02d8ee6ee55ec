import type { GrantsProject } from '#gen/console/api'
import { decode, useHere, useTitle, type ViewProps } from '../address/place.ts'
import { useRead } from '../api/queries.ts'
import { Forbidden, isForbidden, Problem } from '../pieces/problem.tsx'
import { Tabs } from '../pieces/tabs.tsx'
import { ProjectState } from '../projects/about-project.tsx'
import { words as projects } from '../projects/words.ts'
import { Access } from './access.tsx'
import { Actions } from './actions.tsx'
import { Applications } from './applications.tsx'
import { Granted } from './granted.tsx'
import { ProjectHistory } from './history.tsx'
import { Members } from './members.tsx'
import { Roles } from './roles.tsx'
import { Settings } from './settings.tsx'
import { words } from './words.ts'

const tabs = {
  '': words.applications,
  roles: words.roles,
  access: words.access,
  granted: words.granted,
  members: words.members,
  settings: words.settings,
  history: words.history,
}

/** One project. */
export default function Project({ params: { project: id = '', tab = '' } }: ViewProps) {
  const projectId = decode(id)
  const here = useHere()
  const query = useRead('roster.grants.v1.ProjectService/GetProject', { projectId }, { fresh: true })
  const project = query.data?.project
  useTitle(project?.name ?? '')
  if (isForbidden(query.error)) return <Forbidden permission="project.read" />
  if (query.error && !project) return <Problem error={query.error} retry={() => void query.refetch()} />
  if (!project) return <div class="head ghost" aria-hidden="true" />
  return (
    <>
      <div class="head">
        <div>
          <small>{projects.project}</small>
          <h1>{project.name}</h1>
        </div>
        <ProjectState project={project} />
        <span class="grow" />
        <Actions project={project} />
      </div>
      <Tabs label={words.tabs} path={here(`/projects/${id}`)} tabs={tabs} tab={tab} />
      <Tab key={`${projectId} ${tab}`} project={project} tab={tab} />
    </>
  )
}

function Tab({ project, tab }: { project: GrantsProject; tab: string }) {
  if (tab === 'roles') return <Roles project={project} />
  if (tab === 'access') return <Access project={project} />
  if (tab === 'granted') return <Granted project={project} />
  if (tab === 'members') return <Members project={project} />
  if (tab === 'history') return <ProjectHistory project={project} />
  if (tab === 'settings') return <Settings project={project} />
  return <Applications project={project} />
}
