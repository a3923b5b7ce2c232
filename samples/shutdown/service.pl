#!/usr/bin/perl
# A service: waits until it is told to stop, then writes back for SECONDS of real work and goes.
# usage: service.pl NAME SECONDS      (SECONDS "never": it ignores the request)
use strict;
use warnings;
use Time::HiRes qw(time);

my ($name, $seconds) = @ARGV;
my $asked = 0;
$SIG{TERM} = $seconds eq "never" ? "IGNORE" : sub { $asked = 1 };
open my $pid_file, ">", "run/$name.pid" or die "run/$name.pid: $!";
print $pid_file "$$\n";
close $pid_file;

until ($asked) { select undef, undef, undef, undef }

my $until = time + $seconds;
my $sum = 0;
open my $state, ">", "run/$name.state" or die "run/$name.state: $!";
while (time < $until) {
    my $pause = time + 0.02;
    $sum = ($sum * 31 + 7) % 1000003 while time < $pause;
    syswrite $state, sprintf("%07d\n", $sum);
}
unlink "run/$name.pid";
