import { Link } from 'wouter-preact'
import type { GrantsApplication } from '#gen/console/api'
import { useHere, useOrganization } from '../address/place.ts'
import { useRead } from '../api/queries.ts'
import { words as projects } from '../projects/words.ts'
import { words } from './words.ts'

/** Who may sign in to an application, by its own settings and those of its project. */
export function WhoMay({ application }: { application: GrantsApplication }) {
  const own = useOrganization()
  const here = useHere()
  const { projectId = '', oidcConfig, state } = application
  const { data } = useRead('roster.grants.v1.ProjectService/GetProject', { projectId })
  const { hasProjectCheck, projectRoleCheck } = data?.project ?? {}
  const only = oidcConfig?.organizationId ?? ''
  return (
    <div class="card">
      <div class="title">
        <h2>{words.whoMay}</h2>
        <Link href={here(`/projects/${encodeURIComponent(projectId)}/settings`)}>{words.change}</Link>
      </div>
      <div class="text">
        {state === 'APPLICATION_STATE_INACTIVE' ? (
          <p>{words.closed}</p>
        ) : (
          <p>{only === '' ? words.anyone : only === own ? words.onlyOrganization : words.onlyOther(only)}</p>
        )}
        {(hasProjectCheck || projectRoleCheck) && (
          <>
            <p>{words.byProject}</p>
            <ul>
              {hasProjectCheck && <li>{projects.projectCheck}</li>}
              {projectRoleCheck && <li>{projects.roleCheck}</li>}
            </ul>
          </>
        )}
      </div>
    </div>
  )
}
