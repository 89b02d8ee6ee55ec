import { expect, test } from 'vitest'
import { alerts } from '../../deploy/prometheus/alerts.ts'
import { type Fault, nameOf, singleFaults } from '../faults/plan.ts'
import { expectedOf } from './expected.ts'
import { brief, lastingFor, scale, trueWithin } from './lasting.ts'
import { troubles } from './troubles.ts'

test.each(singleFaults.map((fault) => [nameOf([fault]), fault] as const))('%s is a trouble', (name, fault) => {
  const expected = expectedOf(fault)
  expect(troubles.filter((trouble) => trouble.name === name).map(({ alerts }) => alerts)).toEqual([expected])
  const known = alerts().map((alert) => alert.name)
  for (const alert of expected) expect(known).toContain(alert.split(' ')[0])
})

test('a fault without expected alerts is an error', () => {
  for (const victim of ['idp↔ldap', 'gateway↔redis', 'ldap'])
    expect(() => expectedOf({ kind: 'cut', victim, forMs: 0 } as unknown as Fault)).toThrow(victim)
})

test('no two troubles have the same name', () => {
  const names = troubles.map(({ name }) => name)
  expect(names).toEqual([...new Set(names)])
})

test('a trouble lasts until the condition of every alert that it may bring is true', () => {
  const within = Object.fromEntries(alerts(scale).map((alert) => [alert.name, trueWithin(alert)]))
  expect(within).toMatchObject({
    RosterServiceDown: 0,
    RosterCallsFail: 6,
    RosterEventsLate: 3,
    RosterAuditLate: 30,
    RosterMailServer: 15,
    RosterMailsLate: 15,
  })
  for (const seconds of Object.values(within)) expect(lastingFor()).toBeGreaterThan(seconds)
})

test('a brief trouble lasts until the condition of every critical alert is true', () => {
  const critical = alerts(scale).filter(({ severity }) => severity === 'critical')
  expect(lastingFor(critical)).toBeLessThanOrEqual(brief)
})
