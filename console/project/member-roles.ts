import { words } from './words.ts'

/** What each role in a project lets one do. */
export const memberRoles: Record<string, string> = {
  PROJECT_OWNER: words.owner,
  PROJECT_OWNER_VIEWER: words.viewer,
  PROJECT_GRANT_OWNER: words.grantOwner,
}
