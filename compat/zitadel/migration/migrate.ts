import { verifyAddresses } from './steps/addresses.ts'
import { closeOrganization, closeProject } from './steps/closing.ts'
import { moveInstanceMembers, moveOrganizationMembers, moveProjectMembers } from './steps/members.ts'
import type { Options } from './options.ts'
import { moveOrganizations } from './steps/organizations.ts'
import type { Migration, OurOrganization, OurProject } from './ours.ts'
import { moveProjectGrants, moveProjects } from './steps/projects.ts'
import { moveInstanceProviders, moveOrganizationProviders } from './steps/providers.ts'
import { createReport, type Printer } from './report.ts'
import { openSource } from './zitadel/source.ts'
import { openTarget } from './roster/target.ts'
import { openStateFile } from './state-file.ts'
import { moveUserGrants } from './steps/user-grants.ts'
import { moveUsers } from './steps/users.ts'

/**
 * Moves what is in ZITADEL to Roster, or says what it would move. Returns whether something is not moved. It may stop
 * anywhere and begin anew: what Roster has already, stays as it is there.
 */
export async function migrate(options: Options, printer: Printer): Promise<boolean> {
  const { from, to, organizations: wanted, run } = options
  const report = createReport(printer, !run)
  const migration: Migration = {
    source: openSource({ url: from, token: options.fromToken, most: options.most }),
    target: openTarget({ url: to, token: options.toToken, say: printer.say }),
    report,
    state: openStateFile(options.state, { from, to, dry: !run }, report),
    dry: !run,
    organizations: new Map(),
    projects: new Map(),
  }
  const ofEach = async (name: string, act: (migration: Migration, organization: OurOrganization) => Promise<void>) => {
    for (const organization of migration.organizations.values())
      await migration.state.once(`${name} of organization ${organization.id}`, () => act(migration, organization))
  }
  const ofProjects = async (name: string, act: (migration: Migration, project: OurProject) => Promise<void>) => {
    for (const project of migration.projects.values())
      await migration.state.once(`${name} of project ${project.id}`, () => act(migration, project))
  }

  await moveOrganizations(migration, wanted)
  await ofEach('users', moveUsers)
  // The later steps need to know the projects.
  for (const organization of migration.organizations.values()) await moveProjects(migration, organization)
  for (const project of migration.projects.values()) await moveProjectGrants(migration, project)
  await ofEach('user grants', moveUserGrants)
  await ofEach('members', moveOrganizationMembers)
  await ofProjects('members', moveProjectMembers)
  await ofEach('identity providers', moveOrganizationProviders)
  if (wanted.length === 0) await migration.state.once('identity providers', () => moveInstanceProviders(migration))
  if (options.instanceMembers) await migration.state.once('members', () => moveInstanceMembers(migration))
  await ofProjects('state', closeProject)
  await ofEach('state', closeOrganization)
  await ofEach('addresses', verifyAddresses)
  migration.state.finish()
  return report.finish()
}
