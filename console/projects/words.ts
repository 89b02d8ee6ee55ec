import type { GrantsProjectState } from '#gen/console/api'
import { texts } from '../texts/texts.ts'

/** Words about projects, which the list, the project and the wizard share. */
export const words = texts(
  {
    projects: 'Projects',
    project: 'Project',
    add: 'Add a project',
    find: 'Find by name',
    name: 'Name',
    state: 'State',
    anyState: 'Any state',
    active: 'active',
    inactive: 'deactivated',
    newest: 'Newest first',
    byName: 'By name',
    sort: 'Order',
    created: 'Created',
    changed: 'Changed',
    none: 'There is no project yet. A project holds applications that share roles.',
    added: (name: string) => `${name} was added.`,
    whoMay: 'Who may sign in',
    roleCheck: 'Only people who have a role in it',
    roleCheckHint: 'Others are told that they lack access.',
    projectCheck: 'Only people of this organization, and of those that it is granted to',
    roleAssertion: 'Roles are in the answer of userinfo without being asked for',
    roleAssertionHint: 'Otherwise an application asks for them by the scope roles.',
  },
  {
    projects: 'Projekte',
    project: 'Projekt',
    add: 'Projekt hinzufügen',
    find: 'Nach Name finden',
    name: 'Name',
    state: 'Zustand',
    anyState: 'Jeder Zustand',
    active: 'aktiv',
    inactive: 'deaktiviert',
    newest: 'Neueste zuerst',
    byName: 'Nach Name',
    sort: 'Reihenfolge',
    created: 'Angelegt',
    changed: 'Geändert',
    none: 'Es gibt noch kein Projekt. Ein Projekt enthält Anwendungen mit gemeinsamen Rollen.',
    added: (name) => `${name} wurde hinzugefügt.`,
    whoMay: 'Wer sich anmelden darf',
    roleCheck: 'Nur Personen, die darin eine Rolle haben',
    roleCheckHint: 'Andere erfahren, dass ihnen der Zugriff fehlt.',
    projectCheck: 'Nur Personen dieser Organisation und derer, an die es vergeben ist',
    roleAssertion: 'Rollen stehen in der Antwort von userinfo, auch ohne dass danach gefragt wird',
    roleAssertionHint: 'Sonst fragt eine Anwendung mit dem Scope roles danach.',
  },
)

export const states: Partial<Record<GrantsProjectState, { text: string; tone: string }>> = {
  PROJECT_STATE_ACTIVE: { text: words.active, tone: 'good' },
  PROJECT_STATE_INACTIVE: { text: words.inactive, tone: 'warn' },
}
