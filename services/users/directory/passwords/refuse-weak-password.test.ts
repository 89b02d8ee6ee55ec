import { describe, expect, test } from 'vitest'
import { isWeak, refuseWeakPassword } from './refuse-weak-password.ts'

const known = {
  userName: 'countess',
  email: 'ada.lovelace@engines.example',
  profile: { firstName: 'Augusta Ada', lastName: 'Lovelace' },
}

describe('a new password', () => {
  test.each([
    'password',
    '12345678',
    'PASSWORD',
    'Password1',
    'P@ssw0rd',
    'iloveyou',
    'pass\u{200B}word',
    'PASSWORD1 ',
    'qwertyuiop',
    'aaaaaaaaaaaaaaaa',
    'abcdefgh',
    'passwordpassword',
    '20261128',
    'password'.repeat(25),
    'countess',
    'Lovelace1',
    'lovelace',
    'ada.lovelace',
    'ada.lovelace@engines.example',
  ])('%s is refused', (password) => {
    expect(() => refuseWeakPassword(password, 'newPassword', known)).toThrow(
      expect.objectContaining({
        reason: 'PASSWORD_TOO_COMMON',
        violations: [expect.objectContaining({ field: 'newPassword' })],
      }) as Error,
    )
  })

  test.each([
    'k8Jf9sLq',
    'Password1!',
    'correct horse battery staple',
    'violet umbrella',
    'Schmetterling im Regen',
    '秘密の言葉はここにある',
    `${'a'.repeat(100)} violet umbrella`,
    `violet umbrella ${'a'.repeat(100)}`,
    'countess of violet umbrellas',
  ])('%s is taken', (password) => expect(isWeak(password, known)).toBe(false))

  test('a short name that is part of it by chance does not count', () => {
    expect(isWeak('violet umbrella', { userName: 'e', profile: { firstName: 'le', lastName: '' } })).toBe(false)
  })

  test('no password keeps a process busy, whatever is known of the user', () => {
    const long = Array.from({ length: 200 }, (_, at) => '@4a8b({[<cd3e6g9#!1|il7+t0o$5sz2%x'[(at * 7) % 34]).join('')
    const wordy = { userName: 'ab1 '.repeat(50), email: `${'a1-'.repeat(60)}@example.com` }
    const spent = ['p4ssw0rd'.repeat(25), 'P@$$w0rd!1234'.repeat(15), '20112012'.repeat(25), long].map((password) => {
      const before = process.cpuUsage()
      isWeak(password, wordy)
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1000
    })
    expect(Math.max(...spent)).toBeLessThan(500)
  })
})
