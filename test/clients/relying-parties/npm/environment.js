// What each relying party here gets. Signed in, its page says `Signed in as` and the name of the person.
export const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT } = process.env
export const origin = `http://localhost:${PORT}`

export function listen(app) {
  app.listen(Number(PORT), 'localhost', () => console.log(`listens at ${origin}`))
}
