const en = {
  signInByPasskey: 'Sign in with a passkey',
  usePasskey: 'Use a passkey',
  passkeyNotPassword: 'Use a passkey instead of a password',
  recoverByPasskey: 'Your new passkey',
  recoverByPasskeyHint: 'Make a passkey, and sign in with it from now on. A password that you have stays as it was.',
  recoverByPassword: 'Choose a new password instead',
  recoverNoSecondFactor:
    'The code is right. A passkey in place of a password needs a second factor as well, such as an authenticator app, and you have none. Please choose a new password.',
  passkeyUnfit: 'Your device did not make a passkey that works here. Please choose a password.',
  passkeyUnfitHere: 'Your device did not make a passkey that works here. You can go on without one.',
  confirmByPasskey: 'Confirm with a passkey',
  confirmByPasskeyHint: 'Your passkey or security key confirms that it is you.',
  noPasskeyServes:
    'This browser cannot use your passkey here. Use another way or another device, or ask the administrators of your organization.',
  passkeyOtherDomain:
    'Your passkey does not work any more, because the address of this service has changed. Use another way, or ask the administrators of your organization for a link.',
  passkeyStopped: 'No passkey was used. You can try again, or use another way.',
  passkeyMisplaced: 'Passkeys do not work at this address. Use another way, and tell the administrators.',
  passkeyFailed: 'This did not work. You can try again, or use another way.',
  passkeyUnknown:
    'Nobody has this passkey here: it was removed, or it belongs to something else. Use another one, or another way.',
  passkeyLate: 'That took too long, or was sent twice. Please try again.',
  passkeyOfOther: 'This passkey belongs to another account. Use one of this account, or another account.',
  passkeyUnverified:
    'Your device did not check that it is you. Set up a PIN, a fingerprint or face recognition for it, or use another way.',
  passkeyNotAllowed: 'Your organization does not allow passkeys. Sign in in another way.',
  passkeyInvalid: 'This passkey was not accepted. Use another way, and look at your passkeys in your account then.',
  passkeys: 'Passkeys',
  passkeysIntro:
    'With a passkey you sign in without a password: by fingerprint, face or PIN of your device, or with a security key.',
  noPasskeys: 'You have none yet.',
  managePasskeys: 'Add, rename or remove passkeys',
  passkeyWithoutName: 'Passkey',
  passkeyMadeBy: 'Made by {maker}',
  passkeyMade: 'Added: {time}',
  passkeyUsed: 'Last used: {time}',
  passkeyNotUsed: 'Not used yet',
  passkeyBackedUp: 'Copied to your other devices',
  passkeyDead:
    'It does not work any more, because the address of this service has changed. Remove it, and add another.',
  passkeySecondOnly: 'It only works after you have entered your name.',
  passkeyName: 'Name',
  newPasskey: 'Add a passkey',
  newPasskeyHint: 'Such as: phone, work laptop. You can leave it empty.',
  newPasskeyName: 'Name of the new passkey',
  rename: 'Rename',
  remove: 'Remove',
  passkeyRemoveHint:
    'Remove it on the device as well, or in its list of passwords. Where you are signed in, you stay signed in.',
  passkeysFull: 'You have as many passkeys as one may have. To add another, remove one.',
  passkeysNotAllowed: 'Your organization does not allow passkeys. Those in this list do not work.',
  passkeysByMail:
    'Only your mailbox has proved that it is you, and the mailbox alone changes no passkeys. Ask the administrators of your organization for a link.',
  passkeyUnable: 'This browser cannot add passkeys. Use another browser or another device.',
  passkeyAdded: 'Your passkey is added. We have sent you an email about it.',
  passkeyHidden:
    'Your passkey is added, but the device does not offer it by itself: it only works after you have entered your name.',
  passkeyRemoved: 'The passkey is removed. We have sent you an email about it.',
  passkeyExists: 'This device has a passkey for your account already.',
  passkeyLast:
    'Without this passkey you could not sign in any more. Add another passkey or second factor first, or ask an administrator.',
  passkeyLastButMail:
    'Without this passkey you could not sign in any more, unless by an email for a forgotten password. Add another passkey first. If you have lost the device, go on by “Forgot password?” on the page where you sign in.',
  passkeyLink: 'Add a passkey',
  passkeyLinkIntro: 'An administrator lets you add a passkey to your account, on the device that you use now.',
  passkeyLinkOpen: 'Go on',
  passkeyReady: 'Your passkey is added',
  passkeyReadyHint: 'You can sign in with it from now on.',
  passkeyNotAdded: 'No passkey was added',
  passkeyNotAddedHint:
    'Your browser or device did not make a passkey that we can take. Open the link once more, or use another device.',
  passkeyNameInvalid: 'Please enter a name of at most 200 characters.',
  passkeyOffer: 'Sign in faster the next time',
  passkeyOfferHint:
    'With a passkey you use your fingerprint, face or device PIN, and there is no password that somebody could steal.',
  passkeyOfferMake: 'Create a passkey',
  passkeyOfferNotNow: 'Not now',
  passkeyOfferWait: 'One moment',
  passkeyOfferGoOn: 'Go on',
  passkeyOfferStopped: 'No passkey was made. You can try again, or go on without one.',
  passkeyOfferFailed:
    'Your device did not make a passkey that works here. You are signed in all the same, and can add one in your account at any time.',
}

const de: typeof en = {
  signInByPasskey: 'Mit Passkey anmelden',
  usePasskey: 'Passkey benutzen',
  passkeyNotPassword: 'Passkey statt Passwort benutzen',
  recoverByPasskey: 'Ihr neuer Passkey',
  recoverByPasskeyHint:
    'Erstellen Sie einen Passkey, und melden Sie sich von jetzt an mit ihm an. Ein Passwort, das Sie haben, bleibt, wie es war.',
  recoverByPassword: 'Stattdessen ein neues Passwort wählen',
  recoverNoSecondFactor:
    'Der Code stimmt. Für einen Passkey statt eines Passworts braucht es auch einen zweiten Faktor, etwa eine Authenticator-App, und Sie haben keinen. Bitte wählen Sie ein neues Passwort.',
  passkeyUnfit: 'Ihr Gerät hat keinen Passkey gemacht, der hier geht. Bitte wählen Sie ein Passwort.',
  passkeyUnfitHere: 'Ihr Gerät hat keinen Passkey gemacht, der hier geht. Sie können ohne einen weitermachen.',
  confirmByPasskey: 'Mit Passkey bestätigen',
  confirmByPasskeyHint: 'Ihr Passkey oder Sicherheitsschlüssel bestätigt, dass Sie es sind.',
  noPasskeyServes:
    'Dieser Browser kann Ihren Passkey hier nicht benutzen. Nehmen Sie einen anderen Weg oder ein anderes Gerät, oder wenden Sie sich an die Administratoren Ihrer Organisation.',
  passkeyOtherDomain:
    'Ihr Passkey geht nicht mehr, weil sich die Adresse dieses Dienstes geändert hat. Nehmen Sie einen anderen Weg, oder bitten Sie die Administratoren Ihrer Organisation um einen Link.',
  passkeyStopped: 'Es wurde kein Passkey benutzt. Versuchen Sie es noch einmal, oder nehmen Sie einen anderen Weg.',
  passkeyMisplaced:
    'Unter dieser Adresse gehen keine Passkeys. Nehmen Sie einen anderen Weg, und sagen Sie es den Administratoren.',
  passkeyFailed: 'Das hat nicht geklappt. Versuchen Sie es noch einmal, oder nehmen Sie einen anderen Weg.',
  passkeyUnknown:
    'Diesen Passkey hat hier niemand: Er wurde entfernt, oder er gehört zu etwas anderem. Nehmen Sie einen anderen, oder einen anderen Weg.',
  passkeyLate: 'Das hat zu lange gedauert oder wurde zweimal gesendet. Bitte versuchen Sie es noch einmal.',
  passkeyOfOther:
    'Dieser Passkey gehört zu einem anderen Konto. Nehmen Sie einen dieses Kontos oder ein anderes Konto.',
  passkeyUnverified:
    'Ihr Gerät hat nicht geprüft, dass Sie es sind. Richten Sie dafür eine PIN, Fingerabdruck oder Gesichtserkennung ein, oder nehmen Sie einen anderen Weg.',
  passkeyNotAllowed: 'Ihre Organisation erlaubt keine Passkeys. Melden Sie sich auf einem anderen Weg an.',
  passkeyInvalid:
    'Dieser Passkey wurde nicht angenommen. Nehmen Sie einen anderen Weg, und sehen Sie dann in Ihrem Konto nach Ihren Passkeys.',
  passkeys: 'Passkeys',
  passkeysIntro:
    'Mit einem Passkey melden Sie sich ohne Passwort an: mit Fingerabdruck, Gesicht oder PIN Ihres Geräts oder mit einem Sicherheitsschlüssel.',
  noPasskeys: 'Sie haben noch keinen.',
  managePasskeys: 'Passkeys hinzufügen, umbenennen oder entfernen',
  passkeyWithoutName: 'Passkey',
  passkeyMadeBy: 'Von {maker}',
  passkeyMade: 'Hinzugefügt: {time}',
  passkeyUsed: 'Zuletzt benutzt: {time}',
  passkeyNotUsed: 'Noch nicht benutzt',
  passkeyBackedUp: 'Auf Ihre anderen Geräte kopiert',
  passkeyDead:
    'Er geht nicht mehr, weil sich die Adresse dieses Dienstes geändert hat. Entfernen Sie ihn und fügen Sie einen anderen hinzu.',
  passkeySecondOnly: 'Er geht nur, nachdem Sie Ihren Namen eingegeben haben.',
  passkeyName: 'Name',
  newPasskey: 'Passkey hinzufügen',
  newPasskeyHint: 'Etwa: Telefon, Laptop der Firma. Sie können das leer lassen.',
  newPasskeyName: 'Name des neuen Passkeys',
  rename: 'Umbenennen',
  remove: 'Entfernen',
  passkeyRemoveHint:
    'Entfernen Sie ihn auch auf dem Gerät oder in dessen Liste der Passwörter. Wo Sie angemeldet sind, bleiben Sie es.',
  passkeysFull: 'Sie haben so viele Passkeys, wie man haben kann. Um einen hinzuzufügen, entfernen Sie einen.',
  passkeysNotAllowed: 'Ihre Organisation erlaubt keine Passkeys. Die in dieser Liste gehen nicht.',
  passkeysByMail:
    'Nur Ihr Postfach hat gezeigt, dass Sie es sind, und das Postfach allein ändert keine Passkeys. Bitten Sie die Administratoren Ihrer Organisation um einen Link.',
  passkeyUnable:
    'Dieser Browser kann keine Passkeys hinzufügen. Nehmen Sie einen anderen Browser oder ein anderes Gerät.',
  passkeyAdded: 'Ihr Passkey ist hinzugefügt. Wir haben Ihnen dazu eine E-Mail gesendet.',
  passkeyHidden:
    'Ihr Passkey ist hinzugefügt, aber das Gerät bietet ihn nicht von selbst an: Er geht nur, nachdem Sie Ihren Namen eingegeben haben.',
  passkeyRemoved: 'Der Passkey ist entfernt. Wir haben Ihnen dazu eine E-Mail gesendet.',
  passkeyExists: 'Dieses Gerät hat schon einen Passkey für Ihr Konto.',
  passkeyLast:
    'Ohne diesen Passkey könnten Sie sich nicht mehr anmelden. Fügen Sie zuerst einen anderen Passkey oder zweiten Faktor hinzu, oder wenden Sie sich an die Administratoren.',
  passkeyLastButMail:
    'Ohne diesen Passkey könnten Sie sich nur noch durch eine E-Mail für ein vergessenes Passwort anmelden. Fügen Sie zuerst einen anderen Passkey hinzu. Wenn Sie das Gerät verloren haben, nehmen Sie „Passwort vergessen?“ auf der Seite der Anmeldung.',
  passkeyLink: 'Passkey hinzufügen',
  passkeyLinkIntro:
    'Die Administration lässt Sie Ihrem Konto einen Passkey hinzufügen, auf dem Gerät, das Sie gerade benutzen.',
  passkeyLinkOpen: 'Weiter',
  passkeyReady: 'Ihr Passkey ist hinzugefügt',
  passkeyReadyHint: 'Sie können sich von jetzt an mit ihm anmelden.',
  passkeyNotAdded: 'Es wurde kein Passkey hinzugefügt',
  passkeyNotAddedHint:
    'Ihr Browser oder Gerät hat keinen Passkey gemacht, den wir annehmen können. Öffnen Sie den Link noch einmal, oder nehmen Sie ein anderes Gerät.',
  passkeyNameInvalid: 'Bitte geben Sie einen Namen mit höchstens 200 Zeichen ein.',
  passkeyOffer: 'Beim nächsten Mal schneller anmelden',
  passkeyOfferHint:
    'Mit einem Passkey nehmen Sie Fingerabdruck, Gesicht oder die PIN Ihres Geräts, und es gibt kein Passwort, das jemand stehlen könnte.',
  passkeyOfferMake: 'Passkey erstellen',
  passkeyOfferNotNow: 'Nicht jetzt',
  passkeyOfferWait: 'Einen Moment',
  passkeyOfferGoOn: 'Weiter',
  passkeyOfferStopped:
    'Es wurde kein Passkey gemacht. Versuchen Sie es noch einmal, oder machen Sie ohne einen weiter.',
  passkeyOfferFailed:
    'Ihr Gerät hat keinen Passkey gemacht, der hier geht. Sie sind trotzdem angemeldet, und können jederzeit in Ihrem Konto einen hinzufügen.',
}

/** The texts about passkeys. */
export const passkey = { en, de }
