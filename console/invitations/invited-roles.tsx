import type { UsersInvitation } from '#gen/console/api'
import { useProjectNames } from '../history/use-project-names.ts'
import { sayRole } from '../texts/roles.ts'

/** What a person gets who accepts. */
export function InvitedRoles({ invitation: { organizationRoles = [], grants = [] } }: { invitation: UsersInvitation }) {
  const projectName = useProjectNames(grants.map(({ projectId = '' }) => projectId))
  const texts = [
    ...organizationRoles.map(sayRole),
    ...grants.map(({ projectId = '', roleKeys = [] }) =>
      roleKeys.length > 0 ? `${projectName(projectId)}: ${roleKeys.join(', ')}` : projectName(projectId),
    ),
  ]
  return (
    <>
      {texts.map((text) => (
        <>
          <span class="tag">{text}</span>{' '}
        </>
      ))}
    </>
  )
}
