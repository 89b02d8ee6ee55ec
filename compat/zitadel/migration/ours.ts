import type { Report } from './report.ts'
import type { Source } from './zitadel/source.ts'
import type { StateFile } from './state-file.ts'
import type { Target } from './roster/target.ts'

/** What every step works with. */
export interface Migration {
  source: Source
  target: Target
  report: Report
  state: StateFile
  dry: boolean
  /** The organizations that are moved, by their ids. */
  organizations: Map<string, OurOrganization>
  /** The projects that are moved, by their ids. */
  projects: Map<string, OurProject>
}

export interface OurOrganization {
  id: string
  name: string
  /** Whether Roster has it. Always, except in a dry run. */
  exists: boolean
  inactive: boolean
}

export interface OurProject {
  id: string
  organizationId: string
  exists: boolean
  inactive: boolean
  /** Its grants that are inactive. */
  inactiveGrants: string[]
}
