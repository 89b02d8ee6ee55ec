import type { GrantsGround, GrantsGroundFault, GrantsObstacleKind } from '#gen/console/api'
import { texts } from '../texts/texts.ts'

const sentences = texts(
  {
    OBSTACLE_KIND_USER_UNKNOWN: 'The person did not exist yet.',
    OBSTACLE_KIND_USER_INACTIVE: 'The person is deactivated.',
    OBSTACLE_KIND_USER_LOCKED: 'The person is locked.',
    OBSTACLE_KIND_USER_REMOVED: 'The person was removed.',
    OBSTACLE_KIND_USER_ORGANIZATION_CLOSED: 'The organization of the person is deactivated or removed.',
    OBSTACLE_KIND_NO_ROLE: 'The person has no role in this organization, so it cannot act here.',
    OBSTACLE_KIND_ORGANIZATION_UNKNOWN: 'This organization did not exist yet.',
    OBSTACLE_KIND_PROJECT_CLOSED: 'The project or its organization is deactivated or removed.',
    OBSTACLE_KIND_ROLE_MISSING: 'The project does not have the role.',
    GROUND_FAULT_REMOVED: 'it was removed',
    GROUND_FAULT_INACTIVE: 'it is deactivated',
    GROUND_FAULT_LACKS_ROLE: 'it has no role that gives this',
    GROUND_FAULT_ELSEWHERE: 'it gives this elsewhere',
    GROUND_FAULT_ORGANIZATION_CLOSED: 'its organization is deactivated or removed',
    GROUND_FAULT_PROJECT_GRANT: 'the project grant that it stands on does not give the role',
    GROUND_KIND_MEMBERSHIP: 'A membership of this organization',
    GROUND_KIND_USER_GRANT: 'Roles in a project',
    GROUND_KIND_PROJECT_GRANT: 'A project that was granted',
    GROUND_KIND_NO_PERMISSION_NEEDED: 'It needs no permission.',
    ofInstance: 'A membership of the instance',
    ofProject: 'A membership of a project',
  },
  {
    OBSTACLE_KIND_USER_UNKNOWN: 'Die Person gab es noch nicht.',
    OBSTACLE_KIND_USER_INACTIVE: 'Die Person ist deaktiviert.',
    OBSTACLE_KIND_USER_LOCKED: 'Die Person ist gesperrt.',
    OBSTACLE_KIND_USER_REMOVED: 'Die Person wurde entfernt.',
    OBSTACLE_KIND_USER_ORGANIZATION_CLOSED: 'Die Organisation der Person ist deaktiviert oder entfernt.',
    OBSTACLE_KIND_NO_ROLE: 'Die Person hat in dieser Organisation keine Rolle, kann hier also nicht handeln.',
    OBSTACLE_KIND_ORGANIZATION_UNKNOWN: 'Diese Organisation gab es noch nicht.',
    OBSTACLE_KIND_PROJECT_CLOSED: 'Das Projekt oder seine Organisation ist deaktiviert oder entfernt.',
    OBSTACLE_KIND_ROLE_MISSING: 'Das Projekt hat die Rolle nicht.',
    GROUND_FAULT_REMOVED: 'entfernt',
    GROUND_FAULT_INACTIVE: 'deaktiviert',
    GROUND_FAULT_LACKS_ROLE: 'ohne eine Rolle, die dies gibt',
    GROUND_FAULT_ELSEWHERE: 'gibt dies anderswo',
    GROUND_FAULT_ORGANIZATION_CLOSED: 'ihre Organisation ist deaktiviert oder entfernt',
    GROUND_FAULT_PROJECT_GRANT: 'die Projektfreigabe darunter gibt die Rolle nicht',
    GROUND_KIND_MEMBERSHIP: 'Eine Mitgliedschaft in dieser Organisation',
    GROUND_KIND_USER_GRANT: 'Rollen in einem Projekt',
    GROUND_KIND_PROJECT_GRANT: 'Ein freigegebenes Projekt',
    GROUND_KIND_NO_PERMISSION_NEEDED: 'Es braucht kein Recht.',
    ofInstance: 'Eine Mitgliedschaft in der Instanz',
    ofProject: 'Eine Mitgliedschaft in einem Projekt',
  },
)

export function say(kind: GrantsObstacleKind | GrantsGroundFault | undefined): string {
  return (sentences as Record<string, string>)[kind ?? ''] ?? kind ?? ''
}

export function sayKind({ kind, organizationId, projectId }: GrantsGround): string {
  if (kind !== 'GROUND_KIND_MEMBERSHIP') return (sentences as Record<string, string>)[kind ?? ''] ?? kind ?? ''
  if (organizationId === 'roster') return sentences.ofInstance
  return projectId ? sentences.ofProject : sentences.GROUND_KIND_MEMBERSHIP
}
