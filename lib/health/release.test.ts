import { expect, test } from 'vitest'
import { fits, isNew, Misfit, roster } from './release.ts'

const { release, former } = roster

test.each([
  ['the same release', { release, former }, true],
  ['the release before', { release: former }, true],
  ['the release after', { release: '99.0', former: release }, true],
  ['an older one', { release: '0.0' }, false],
  ['one before the release before', { release: '0.0', former: '0.-1' }, false],
  ['one after the release after', { release: '99.1', former: '99.0' }, false],
  ['a strange one that does not state which one it follows', { release: '99.0' }, false],
])('beside %s: may it work? %o', (_, other, may) => {
  expect(fits(other)).toBe(may)
})

test('what came with this release is new in it alone', () => {
  expect([release, former, '', '0.0'].map(isNew)).toEqual([true, false, false, false])
})

test('a version that must not start says so in one sentence', () => {
  expect(new Misfit('its database was upgraded by', '99.1').message).toBe(
    `Roster ${roster.version} cannot start, because its database was upgraded by 99.1, which is more than one release away: see docs/upgrading.md.`,
  )
})
