import type { GrantsNewProjectRole } from '#gen/console/api'

/** The roles of a pasted text: a line each, of key, name and group. */
export function rolesOf(text: string): GrantsNewProjectRole[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.split(/[\t;,]/).map((part) => part.trim()))
    .filter(([key]) => key !== '')
    .map(([key = '', displayName = '', group = '']) => ({ key, displayName: displayName || key, group }))
}
