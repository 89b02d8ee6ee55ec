const { ISSUER = 'http://localhost:8080', ADMIN_TOKEN, PROJECT = 'shop' } = process.env

/** The people of all tests, under fixed ids: those of an earlier run are used again. */
export const people = {
  reader: { userName: 'test-reader', roleKeys: ['reader'] },
  guest: { userName: 'test-guest', roleKeys: [] },
}
export const password = 'only for tests'

/** Where the cookies of a person are kept. */
export const stateOf = (name) => `.auth/${name}.json`

/** Makes a person who can sign in: with a password, a verified address and the roles. */
export async function makePerson({ userName, roleKeys }) {
  await call('/v2/users/human', {
    userId: userName,
    userName,
    profile: { firstName: 'Test', lastName: userName },
    email: { email: `${userName}@example.com`, isVerified: true },
    password,
  })
  if (roleKeys.length > 0) await call(`/management/v1/users/${userName}/grants`, { projectId: PROJECT, roleKeys })
}

async function call(path, body) {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' }
  const answer = await fetch(ISSUER + path, { method: 'POST', headers, body: JSON.stringify(body) })
  // 409: an earlier run made it.
  if (!answer.ok && answer.status !== 409) throw new Error(`${path}: ${await answer.text()}`)
}
