import { readFileSync } from 'node:fs'

/** A version's first two numbers. Versions of the same release differ in nothing that another process can notice. */
export type Release = string

const { version, formerRelease } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
  formerRelease: { version: string; functions: string[] }
}

/** This version of Roster, such as 1.2.3, and the release before it, such as 1.1. */
export const roster = { version, release: releaseOf(version), former: releaseOf(formerRelease.version) }

/** Whether this release is the one that something came with. The former one does not know that. */
export function isNew(since: Release): boolean {
  return since === roster.release
}

/** The hashes of the former release's functions of the schemas, as its `functions.sql` have them. */
export const formerFunctions = formerRelease.functions

/** The version of a process that does not report any: versions are reported since the release after it. */
export const unstated = '0.1.0'

export function releaseOf(version: string): Release {
  return version.split('.').slice(0, 2).join('.')
}

/** Another release, and the one before it where that is known. */
export interface Other {
  release: Release
  former?: Release | undefined
}

/** Whether this version may work beside another one and with its data: it is the same release, or a neighbor. */
export function fits({ release, former }: Other): boolean {
  return release === roster.release || release === roster.former || former === roster.release
}

/** The error of a version that must not start, because of the release that runs or ran somewhere. */
export class Misfit extends Error {
  constructor(where: string, release: Release) {
    super(
      `Roster ${roster.version} cannot start, because ${where} ${release}, which is more than one release away: ` +
        'see docs/upgrading.md.',
    )
  }
}
